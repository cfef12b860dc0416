"""Operations moved across collectives, and collectives merged across operations."""
