source_filename = "module.hlo"

define hidden i32 @xe_entry_part0(ptr noalias %arguments) nounwind optnone noinline "optimization-level"="final" {
entry:
  %argument3.at = getelementptr inbounds ptr, ptr %arguments, i64 3
  %argument3 = load ptr, ptr %argument3.at, !invariant.load !0
  %argument2.at = getelementptr inbounds ptr, ptr %arguments, i64 2
  %argument2 = load ptr, ptr %argument2.at, !invariant.load !0
  %argument0.at = getelementptr inbounds ptr, ptr %arguments, i64 0
  %argument0 = load ptr, ptr %argument0.at, !invariant.load !0
  %argument1.at = getelementptr inbounds ptr, ptr %arguments, i64 1
  %argument1 = load ptr, ptr %argument1.at, !invariant.load !0
  %argument625.at = getelementptr inbounds ptr, ptr %arguments, i64 625
  %argument625 = load ptr, ptr %argument625.at, !invariant.load !0
  %argument4.at = getelementptr inbounds ptr, ptr %arguments, i64 4
  %argument4 = load ptr, ptr %argument4.at, !invariant.load !0
  %slot653 = alloca ptr, i64 63, align 64
  %slot1242 = alloca ptr, i64 59, align 64
  %v1 = getelementptr inbounds i8, ptr %argument625, i64 16384
  %v2 = getelementptr inbounds i8, ptr %argument625, i64 32768
  %v3 = getelementptr inbounds i8, ptr %argument625, i64 49152
  %v4 = getelementptr inbounds i8, ptr %argument625, i64 65536
  %v5 = getelementptr inbounds i8, ptr %argument625, i64 81920
  %v6 = getelementptr inbounds i8, ptr %argument625, i64 98304
  %v7 = getelementptr inbounds i8, ptr %argument625, i64 114688
  %v8 = getelementptr inbounds i8, ptr %argument625, i64 131072
  %v9 = getelementptr inbounds i8, ptr %argument625, i64 147456
  %v10 = getelementptr inbounds i8, ptr %argument625, i64 163840
  call void @minimum_multiply_tanh_maximum_fusion(ptr %argument3, ptr %argument2, ptr %argument0, ptr %argument1, ptr %argument625, ptr %v1, ptr %v2, ptr %v3, ptr %v4, ptr %v5, ptr %v6, ptr %v7, ptr %v8, ptr %v9, ptr %v10)
  %v11 = getelementptr inbounds i8, ptr %argument625, i64 49152
  %v12 = getelementptr inbounds i8, ptr %argument625, i64 4407296
  call void @reduce_fusion_110(ptr %v11, ptr %v12)
  %v13 = getelementptr inbounds i8, ptr %argument625, i64 4407296
  call void @wrapped_tanh_540(ptr %v13)
  %v14 = getelementptr inbounds i8, ptr %argument625, i64 49152
  %v15 = getelementptr inbounds i8, ptr %argument625, i64 5029888
  call void @reduce_fusion_99(ptr %v14, ptr %v15)
  %v16 = getelementptr inbounds i8, ptr %argument625, i64 5029888
  call void @wrapped_tanh_540(ptr %v16)
  %v17 = getelementptr inbounds i8, ptr %argument625, i64 163840
  %v18 = getelementptr inbounds i8, ptr %argument625, i64 147456
  %v19 = getelementptr inbounds i8, ptr %argument625, i64 98304
  %v20 = getelementptr inbounds i8, ptr %argument625, i64 65536
  %v21 = getelementptr inbounds i8, ptr %argument625, i64 81920
  %v22 = getelementptr inbounds i8, ptr %argument625, i64 32768
  %v23 = getelementptr inbounds i8, ptr %argument625, i64 49152
  %v24 = getelementptr inbounds i8, ptr %argument625, i64 180224
  %v25 = getelementptr inbounds i8, ptr %argument625, i64 196608
  %v26 = getelementptr inbounds i8, ptr %argument625, i64 212992
  %v27 = getelementptr inbounds i8, ptr %argument625, i64 229376
  %v28 = getelementptr inbounds i8, ptr %argument625, i64 245760
  %v29 = getelementptr inbounds i8, ptr %argument625, i64 262144
  %v30 = getelementptr inbounds i8, ptr %argument625, i64 278528
  %v31 = getelementptr inbounds i8, ptr %argument625, i64 294912
  %v32 = getelementptr inbounds i8, ptr %argument625, i64 311296
  call void @maximum_multiply_minimum_fusion_2(ptr %v17, ptr %v18, ptr %argument625, ptr %v19, ptr %argument1, ptr %v20, ptr %argument0, ptr %v21, ptr %v22, ptr %v23, ptr %v24, ptr %v25, ptr %v26, ptr %v27, ptr %v28, ptr %v29, ptr %v30, ptr %v31, ptr %v32)
  %v33 = getelementptr inbounds i8, ptr %argument625, i64 278528
  %v34 = getelementptr inbounds i8, ptr %argument625, i64 3620864
  call void @reduce_fusion_99(ptr %v33, ptr %v34)
  %v35 = getelementptr inbounds i8, ptr %argument625, i64 3620864
  call void @wrapped_tanh_540(ptr %v35)
  %v36 = getelementptr inbounds i8, ptr %argument625, i64 180224
  %v37 = getelementptr inbounds i8, ptr %argument625, i64 5030144
  call void @reduce_fusion_99(ptr %v36, ptr %v37)
  %v38 = getelementptr inbounds i8, ptr %argument625, i64 5030144
  call void @wrapped_tanh_540(ptr %v38)
  %v39 = getelementptr inbounds i8, ptr %argument625, i64 327680
  call void @d73(ptr %argument1, ptr %argument0, ptr %v39)
  %v40 = getelementptr inbounds i8, ptr %argument625, i64 16384
  %v41 = getelementptr inbounds i8, ptr %argument625, i64 49152
  %v42 = getelementptr inbounds i8, ptr %argument625, i64 262144
  %v43 = getelementptr inbounds i8, ptr %argument625, i64 32768
  %v44 = getelementptr inbounds i8, ptr %argument625, i64 344064
  %v45 = getelementptr inbounds i8, ptr %argument625, i64 360448
  %v46 = getelementptr inbounds i8, ptr %argument625, i64 376832
  %v47 = getelementptr inbounds i8, ptr %argument625, i64 393216
  %v48 = getelementptr inbounds i8, ptr %argument625, i64 409600
  %v49 = getelementptr inbounds i8, ptr %argument625, i64 425984
  %v50 = getelementptr inbounds i8, ptr %argument625, i64 442368
  %v51 = getelementptr inbounds i8, ptr %argument625, i64 458752
  %v52 = getelementptr inbounds i8, ptr %argument625, i64 475136
  %v53 = getelementptr inbounds i8, ptr %argument625, i64 491520
  %v54 = getelementptr inbounds i8, ptr %argument625, i64 507904
  %v55 = getelementptr inbounds i8, ptr %argument625, i64 524288
  call void @tanh_multiply_fusion_14(ptr %v40, ptr %argument2, ptr %v41, ptr %v42, ptr %v43, ptr %v44, ptr %v45, ptr %v46, ptr %v47, ptr %v48, ptr %v49, ptr %v50, ptr %v51, ptr %v52, ptr %v53, ptr %v54, ptr %v55)
  %v56 = getelementptr inbounds i8, ptr %argument625, i64 327680
  %v57 = getelementptr inbounds i8, ptr %argument625, i64 491520
  %v58 = getelementptr inbounds i8, ptr %argument625, i64 114688
  %v59 = getelementptr inbounds i8, ptr %argument625, i64 360448
  %v60 = getelementptr inbounds i8, ptr %argument625, i64 507904
  %v61 = getelementptr inbounds i8, ptr %argument625, i64 147456
  %v62 = getelementptr inbounds i8, ptr %argument625, i64 229376
  %v63 = getelementptr inbounds i8, ptr %argument625, i64 540672
  %v64 = getelementptr inbounds i8, ptr %argument625, i64 557056
  %v65 = getelementptr inbounds i8, ptr %argument625, i64 573440
  %v66 = getelementptr inbounds i8, ptr %argument625, i64 589824
  %v67 = getelementptr inbounds i8, ptr %argument625, i64 606208
  %v68 = getelementptr inbounds i8, ptr %argument625, i64 622592
  %v69 = getelementptr inbounds i8, ptr %argument625, i64 638976
  %v70 = getelementptr inbounds i8, ptr %argument625, i64 655360
  %v71 = getelementptr inbounds i8, ptr %argument625, i64 671744
  call void @tanh_minimum_add_multiply_fusion(ptr %v56, ptr %v57, ptr %v58, ptr %v59, ptr %v60, ptr %argument3, ptr %v61, ptr %v62, ptr %v63, ptr %v64, ptr %v65, ptr %v66, ptr %v67, ptr %v68, ptr %v69, ptr %v70, ptr %v71)
  %v72 = getelementptr inbounds i8, ptr %argument625, i64 311296
  %v73 = getelementptr inbounds i8, ptr %argument625, i64 294912
  %v74 = getelementptr inbounds i8, ptr %argument625, i64 81920
  %v75 = getelementptr inbounds i8, ptr %argument625, i64 327680
  %v76 = getelementptr inbounds i8, ptr %argument625, i64 16384
  %v77 = getelementptr inbounds i8, ptr %argument625, i64 278528
  %v78 = getelementptr inbounds i8, ptr %argument625, i64 688128
  %v79 = getelementptr inbounds i8, ptr %argument625, i64 704512
  %v80 = getelementptr inbounds i8, ptr %argument625, i64 720896
  %v81 = getelementptr inbounds i8, ptr %argument625, i64 737280
  %v82 = getelementptr inbounds i8, ptr %argument625, i64 753664
  %v83 = getelementptr inbounds i8, ptr %argument625, i64 770048
  %v84 = getelementptr inbounds i8, ptr %argument625, i64 786432
  %v85 = getelementptr inbounds i8, ptr %argument625, i64 802816
  %v86 = getelementptr inbounds i8, ptr %argument625, i64 819200
  %v87 = getelementptr inbounds i8, ptr %argument625, i64 835584
  call void @tanh_maximum_subtract_multiply_fusion(ptr %v72, ptr %v73, ptr %v74, ptr %argument0, ptr %v75, ptr %v76, ptr %v77, ptr %argument625, ptr %v78, ptr %v79, ptr %v80, ptr %v81, ptr %v82, ptr %v83, ptr %v84, ptr %v85, ptr %v86, ptr %v87)
  %v88 = getelementptr inbounds i8, ptr %argument625, i64 229376
  %v89 = getelementptr inbounds i8, ptr %argument625, i64 81920
  %v90 = getelementptr inbounds i8, ptr %argument625, i64 32768
  %v91 = getelementptr inbounds i8, ptr %argument625, i64 819200
  %v92 = getelementptr inbounds i8, ptr %argument625, i64 524288
  %v93 = getelementptr inbounds i8, ptr %argument625, i64 65536
  %v94 = getelementptr inbounds i8, ptr %argument625, i64 835584
  %v95 = getelementptr inbounds i8, ptr %argument625, i64 851968
  %v96 = getelementptr inbounds i8, ptr %argument625, i64 868352
  %v97 = getelementptr inbounds i8, ptr %argument625, i64 884736
  %v98 = getelementptr inbounds i8, ptr %argument625, i64 901120
  %v99 = getelementptr inbounds i8, ptr %argument625, i64 917504
  %v100 = getelementptr inbounds i8, ptr %argument625, i64 933888
  %v101 = getelementptr inbounds i8, ptr %argument625, i64 950272
  %v102 = getelementptr inbounds i8, ptr %argument625, i64 966656
  %v103 = getelementptr inbounds i8, ptr %argument625, i64 983040
  %v104 = getelementptr inbounds i8, ptr %argument625, i64 999424
  call void @multiply_minimum_add_maximum_fusion(ptr %v88, ptr %argument3, ptr %v89, ptr %v90, ptr %v91, ptr %v92, ptr %argument2, ptr %v93, ptr %v94, ptr %v95, ptr %v96, ptr %v97, ptr %v98, ptr %v99, ptr %v100, ptr %v101, ptr %v102, ptr %v103, ptr %v104)
  %v105 = getelementptr inbounds i8, ptr %argument625, i64 180224
  %v106 = getelementptr inbounds i8, ptr %argument625, i64 5029888
  %v107 = getelementptr inbounds i8, ptr %argument625, i64 425984
  %v108 = getelementptr inbounds i8, ptr %argument625, i64 802816
  %v109 = getelementptr inbounds i8, ptr %argument625, i64 966656
  %v110 = getelementptr inbounds i8, ptr %argument625, i64 983040
  %v111 = getelementptr inbounds i8, ptr %argument625, i64 950272
  %v112 = getelementptr inbounds i8, ptr %argument625, i64 933888
  %v113 = getelementptr inbounds i8, ptr %argument625, i64 409600
  %v114 = getelementptr inbounds i8, ptr %argument625, i64 376832
  %v115 = getelementptr inbounds i8, ptr %argument625, i64 1015808
  %v116 = getelementptr inbounds i8, ptr %argument625, i64 1032192
  %v117 = getelementptr inbounds i8, ptr %argument625, i64 1048576
  %v118 = getelementptr inbounds i8, ptr %argument625, i64 1064960
  %v119 = getelementptr inbounds i8, ptr %argument625, i64 1081344
  %v120 = getelementptr inbounds i8, ptr %argument625, i64 1097728
  %v121 = getelementptr inbounds i8, ptr %argument625, i64 1114112
  call void @multiply_subtract_maximum_minimum_fusion(ptr %v105, ptr %v106, ptr %v107, ptr %v108, ptr %v109, ptr %v110, ptr %v111, ptr %v112, ptr %v113, ptr %v114, ptr %argument4, ptr %v115, ptr %v116, ptr %v117, ptr %v118, ptr %v119, ptr %v120, ptr %v121)
  %v122 = getelementptr inbounds i8, ptr %argument625, i64 278528
  %v123 = getelementptr inbounds i8, ptr %argument625, i64 245760
  %v124 = getelementptr inbounds i8, ptr %argument625, i64 851968
  %v125 = getelementptr inbounds i8, ptr %argument625, i64 491520
  %v126 = getelementptr inbounds i8, ptr %argument625, i64 868352
  %v127 = getelementptr inbounds i8, ptr %argument625, i64 507904
  %v128 = getelementptr inbounds i8, ptr %argument625, i64 81920
  %v129 = getelementptr inbounds i8, ptr %argument625, i64 425984
  %v130 = getelementptr inbounds i8, ptr %argument625, i64 606208
  %v131 = getelementptr inbounds i8, ptr %argument625, i64 1130496
  %v132 = getelementptr inbounds i8, ptr %argument625, i64 1146880
  %v133 = getelementptr inbounds i8, ptr %argument625, i64 1163264
  %v134 = getelementptr inbounds i8, ptr %argument625, i64 1179648
  %v135 = getelementptr inbounds i8, ptr %argument625, i64 1196032
  %v136 = getelementptr inbounds i8, ptr %argument625, i64 1212416
  %v137 = getelementptr inbounds i8, ptr %argument625, i64 1228800
  %v138 = getelementptr inbounds i8, ptr %argument625, i64 1245184
  call void @minimum_tanh_maximum_add_fusion(ptr %v122, ptr %v123, ptr %v124, ptr %v125, ptr %v126, ptr %v127, ptr %v128, ptr %v129, ptr %v130, ptr %v131, ptr %v132, ptr %v133, ptr %v134, ptr %v135, ptr %v136, ptr %v137, ptr %v138)
  %v139 = getelementptr inbounds i8, ptr %argument625, i64 196608
  %v140 = getelementptr inbounds i8, ptr %argument625, i64 344064
  %v141 = getelementptr inbounds i8, ptr %argument625, i64 950272
  %v142 = getelementptr inbounds i8, ptr %argument625, i64 229376
  %v143 = getelementptr inbounds i8, ptr %argument625, i64 262144
  %v144 = getelementptr inbounds i8, ptr %argument625, i64 1114112
  %v145 = getelementptr inbounds i8, ptr %argument625, i64 1015808
  %v146 = getelementptr inbounds i8, ptr %argument625, i64 1179648
  %v147 = getelementptr inbounds i8, ptr %argument625, i64 1261568
  %v148 = getelementptr inbounds i8, ptr %argument625, i64 1277952
  %v149 = getelementptr inbounds i8, ptr %argument625, i64 1294336
  %v150 = getelementptr inbounds i8, ptr %argument625, i64 1310720
  %v151 = getelementptr inbounds i8, ptr %argument625, i64 1327104
  %v152 = getelementptr inbounds i8, ptr %argument625, i64 1343488
  %v153 = getelementptr inbounds i8, ptr %argument625, i64 1359872
  %v154 = getelementptr inbounds i8, ptr %argument625, i64 1376256
  %v155 = getelementptr inbounds i8, ptr %argument625, i64 1392640
  call void @multiply_tanh_maximum_fusion_5(ptr %v139, ptr %v140, ptr %v141, ptr %argument1, ptr %v142, ptr %v143, ptr %v144, ptr %v145, ptr %v146, ptr %v147, ptr %v148, ptr %v149, ptr %v150, ptr %v151, ptr %v152, ptr %v153, ptr %v154, ptr %v155)
  %v156 = getelementptr inbounds i8, ptr %argument625, i64 1359872
  %v157 = getelementptr inbounds i8, ptr %argument625, i64 5030400
  call void @reduce_fusion_99(ptr %v156, ptr %v157)
  %v158 = getelementptr inbounds i8, ptr %argument625, i64 5030400
  call void @wrapped_tanh_540(ptr %v158)
  %v159 = getelementptr inbounds i8, ptr %argument625, i64 16384
  %v160 = getelementptr inbounds i8, ptr %argument625, i64 278528
  %v161 = getelementptr inbounds i8, ptr %argument625, i64 376832
  %v162 = getelementptr inbounds i8, ptr %argument625, i64 606208
  %v163 = getelementptr inbounds i8, ptr %argument625, i64 4407296
  %v164 = getelementptr inbounds i8, ptr %argument625, i64 1343488
  %v165 = getelementptr inbounds i8, ptr %argument625, i64 1409024
  %v166 = getelementptr inbounds i8, ptr %argument625, i64 1425408
  %v167 = getelementptr inbounds i8, ptr %argument625, i64 1441792
  %v168 = getelementptr inbounds i8, ptr %argument625, i64 1458176
  %v169 = getelementptr inbounds i8, ptr %argument625, i64 1474560
  %v170 = getelementptr inbounds i8, ptr %argument625, i64 1490944
  %v171 = getelementptr inbounds i8, ptr %argument625, i64 1507328
  %v172 = getelementptr inbounds i8, ptr %argument625, i64 1523712
  %v173 = getelementptr inbounds i8, ptr %argument625, i64 1540096
  call void @multiply_tanh_minimum_add_fusion(ptr %argument0, ptr %v159, ptr %v160, ptr %v161, ptr %v162, ptr %v163, ptr %argument4, ptr %v164, ptr %v165, ptr %v166, ptr %v167, ptr %v168, ptr %v169, ptr %v170, ptr %v171, ptr %v172, ptr %v173)
  %v174 = getelementptr inbounds i8, ptr %argument625, i64 425984
  %v175 = getelementptr inbounds i8, ptr %argument625, i64 1409024
  %v176 = getelementptr inbounds i8, ptr %argument625, i64 1556480
  call void @d73(ptr %v174, ptr %v175, ptr %v176)
  %v177 = getelementptr inbounds i8, ptr %argument625, i64 131072
  %v178 = getelementptr inbounds i8, ptr %argument625, i64 655360
  %v179 = getelementptr inbounds i8, ptr %argument625, i64 1556480
  %v180 = getelementptr inbounds i8, ptr %argument625, i64 786432
  %v181 = getelementptr inbounds i8, ptr %argument625, i64 999424
  %v182 = getelementptr inbounds i8, ptr %argument625, i64 147456
  %v183 = getelementptr inbounds i8, ptr %argument625, i64 32768
  %v184 = getelementptr inbounds i8, ptr %argument625, i64 1572864
  %v185 = getelementptr inbounds i8, ptr %argument625, i64 1589248
  %v186 = getelementptr inbounds i8, ptr %argument625, i64 1605632
  %v187 = getelementptr inbounds i8, ptr %argument625, i64 1622016
  %v188 = getelementptr inbounds i8, ptr %argument625, i64 1638400
  %v189 = getelementptr inbounds i8, ptr %argument625, i64 1654784
  %v190 = getelementptr inbounds i8, ptr %argument625, i64 1671168
  call void @multiply_maximum_tanh_minimum_fusion(ptr %v177, ptr %argument625, ptr %v178, ptr %v179, ptr %v180, ptr %v181, ptr %v182, ptr %v183, ptr %v184, ptr %v185, ptr %v186, ptr %v187, ptr %v188, ptr %v189, ptr %v190)
  %v191 = getelementptr inbounds i8, ptr %argument625, i64 1097728
  %v192 = getelementptr inbounds i8, ptr %argument625, i64 1245184
  %v193 = getelementptr inbounds i8, ptr %argument625, i64 770048
  %v194 = getelementptr inbounds i8, ptr %argument625, i64 131072
  %v195 = getelementptr inbounds i8, ptr %argument625, i64 507904
  %v196 = getelementptr inbounds i8, ptr %argument625, i64 1146880
  %v197 = getelementptr inbounds i8, ptr %argument625, i64 278528
  %v198 = getelementptr inbounds i8, ptr %argument625, i64 294912
  %v199 = getelementptr inbounds i8, ptr %argument625, i64 1687552
  %v200 = getelementptr inbounds i8, ptr %argument625, i64 1703936
  %v201 = getelementptr inbounds i8, ptr %argument625, i64 1720320
  %v202 = getelementptr inbounds i8, ptr %argument625, i64 1736704
  %v203 = getelementptr inbounds i8, ptr %argument625, i64 1753088
  %v204 = getelementptr inbounds i8, ptr %argument625, i64 1769472
  %v205 = getelementptr inbounds i8, ptr %argument625, i64 1785856
  %v206 = getelementptr inbounds i8, ptr %argument625, i64 1802240
  %v207 = getelementptr inbounds i8, ptr %argument625, i64 1818624
  call void @multiply_minimum_tanh_subtract_fusion(ptr %v191, ptr %v192, ptr %v193, ptr %v194, ptr %v195, ptr %argument2, ptr %v196, ptr %v197, ptr %v198, ptr %v199, ptr %v200, ptr %v201, ptr %v202, ptr %v203, ptr %v204, ptr %v205, ptr %v206, ptr %v207)
  %v208 = getelementptr inbounds i8, ptr %argument625, i64 1703936
  %v209 = getelementptr inbounds i8, ptr %argument625, i64 2129920
  call void @reduce_fusion_110(ptr %v208, ptr %v209)
  %v210 = getelementptr inbounds i8, ptr %argument625, i64 2129920
  call void @wrapped_tanh_540(ptr %v210)
  %v211 = getelementptr inbounds i8, ptr %argument625, i64 688128
  %v212 = getelementptr inbounds i8, ptr %argument625, i64 344064
  %v213 = getelementptr inbounds i8, ptr %argument625, i64 1671168
  %v214 = getelementptr inbounds i8, ptr %argument625, i64 1228800
  %v215 = getelementptr inbounds i8, ptr %argument625, i64 770048
  %v216 = getelementptr inbounds i8, ptr %argument625, i64 884736
  %v217 = getelementptr inbounds i8, ptr %argument625, i64 1654784
  %v218 = getelementptr inbounds i8, ptr %argument625, i64 1835008
  %v219 = getelementptr inbounds i8, ptr %argument625, i64 1851392
  %v220 = getelementptr inbounds i8, ptr %argument625, i64 1867776
  %v221 = getelementptr inbounds i8, ptr %argument625, i64 1884160
  %v222 = getelementptr inbounds i8, ptr %argument625, i64 1900544
  %v223 = getelementptr inbounds i8, ptr %argument625, i64 1916928
  %v224 = getelementptr inbounds i8, ptr %argument625, i64 1933312
  call void @subtract_minimum_maximum_tanh_fusion(ptr %v211, ptr %v212, ptr %v213, ptr %argument3, ptr %v214, ptr %v215, ptr %v216, ptr %v217, ptr %v218, ptr %v219, ptr %v220, ptr %v221, ptr %v222, ptr %v223, ptr %v224)
  %v225 = getelementptr inbounds i8, ptr %argument625, i64 1835008
  %v226 = getelementptr inbounds i8, ptr %argument625, i64 4636672
  call void @reduce_fusion_110(ptr %v225, ptr %v226)
  %v227 = getelementptr inbounds i8, ptr %argument625, i64 4636672
  call void @wrapped_tanh_540(ptr %v227)
  %v228 = getelementptr inbounds i8, ptr %argument625, i64 966656
  %v229 = getelementptr inbounds i8, ptr %argument625, i64 1949696
  call void @wrapped_transpose_6(ptr %v228, ptr %v229)
  %v230 = getelementptr inbounds i8, ptr %argument625, i64 1196032
  %v231 = getelementptr inbounds i8, ptr %argument625, i64 1687552
  %v232 = getelementptr inbounds i8, ptr %argument625, i64 1966080
  call void @d73(ptr %v230, ptr %v231, ptr %v232)
  %v233 = getelementptr inbounds i8, ptr %argument625, i64 802816
  %v234 = getelementptr inbounds i8, ptr %argument625, i64 65536
  %v235 = getelementptr inbounds i8, ptr %argument625, i64 753664
  %v236 = getelementptr inbounds i8, ptr %argument625, i64 491520
  %v237 = getelementptr inbounds i8, ptr %argument625, i64 638976
  %v238 = getelementptr inbounds i8, ptr %argument625, i64 1966080
  %v239 = getelementptr inbounds i8, ptr %argument625, i64 442368
  %v240 = getelementptr inbounds i8, ptr %argument625, i64 1654784
  %v241 = getelementptr inbounds i8, ptr %argument625, i64 966656
  %v242 = getelementptr inbounds i8, ptr %argument625, i64 1949696
  %v243 = getelementptr inbounds i8, ptr %argument625, i64 1867776
  %v244 = getelementptr inbounds i8, ptr %argument625, i64 1982464
  %v245 = getelementptr inbounds i8, ptr %argument625, i64 1998848
  %v246 = getelementptr inbounds i8, ptr %argument625, i64 2015232
  %v247 = getelementptr inbounds i8, ptr %argument625, i64 2031616
  %v248 = getelementptr inbounds i8, ptr %argument625, i64 2048000
  %v249 = getelementptr inbounds i8, ptr %argument625, i64 2064384
  %v250 = getelementptr inbounds i8, ptr %argument625, i64 2080768
  call void @tanh_multiply_add_subtract_fusion(ptr %v233, ptr %v234, ptr %v235, ptr %v236, ptr %v237, ptr %argument1, ptr %v238, ptr %v239, ptr %v240, ptr %v241, ptr %v242, ptr %v243, ptr %v244, ptr %v245, ptr %v246, ptr %v247, ptr %v248, ptr %v249, ptr %v250)
  %v251 = getelementptr inbounds i8, ptr %argument625, i64 1966080
  %v252 = getelementptr inbounds i8, ptr %argument625, i64 2768896
  call void @reduce_fusion_110(ptr %v251, ptr %v252)
  %v253 = getelementptr inbounds i8, ptr %argument625, i64 2768896
  call void @wrapped_tanh_540(ptr %v253)
  %v254 = getelementptr inbounds i8, ptr %argument625, i64 1196032
  %v255 = getelementptr inbounds i8, ptr %argument625, i64 1294336
  %v256 = getelementptr inbounds i8, ptr %argument625, i64 524288
  %v257 = getelementptr inbounds i8, ptr %argument625, i64 1015808
  %v258 = getelementptr inbounds i8, ptr %argument625, i64 1572864
  %v259 = getelementptr inbounds i8, ptr %argument625, i64 655360
  %v260 = getelementptr inbounds i8, ptr %argument625, i64 4636672
  %v261 = getelementptr inbounds i8, ptr %argument625, i64 540672
  %v262 = getelementptr inbounds i8, ptr %argument625, i64 507904
  %v263 = getelementptr inbounds i8, ptr %argument625, i64 1982464
  %v264 = getelementptr inbounds i8, ptr %argument625, i64 1441792
  %v265 = getelementptr inbounds i8, ptr %argument625, i64 901120
  %v266 = getelementptr inbounds i8, ptr %argument625, i64 950272
  %v267 = getelementptr inbounds i8, ptr %argument625, i64 1327104
  %v268 = getelementptr inbounds i8, ptr %argument625, i64 1130496
  %v269 = getelementptr inbounds i8, ptr %argument625, i64 2129920
  %v270 = getelementptr inbounds i8, ptr %argument625, i64 2097152
  %v271 = getelementptr inbounds i8, ptr %argument625, i64 2113536
  call void @maximum_minimum_add_fusion_1(ptr %v254, ptr %v255, ptr %v256, ptr %v257, ptr %v258, ptr %v259, ptr %v260, ptr %v261, ptr %v262, ptr %v263, ptr %v264, ptr %argument3, ptr %v265, ptr %v266, ptr %v267, ptr %v268, ptr %v269, ptr %v270, ptr %v271)
  %v272 = getelementptr inbounds i8, ptr %argument625, i64 1736704
  %v273 = getelementptr inbounds i8, ptr %argument625, i64 4636672
  %v274 = getelementptr inbounds i8, ptr %argument625, i64 327680
  %v275 = getelementptr inbounds i8, ptr %argument625, i64 1900544
  %v276 = getelementptr inbounds i8, ptr %argument625, i64 32768
  %v277 = getelementptr inbounds i8, ptr %argument625, i64 491520
  %v278 = getelementptr inbounds i8, ptr %argument625, i64 1720320
  %v279 = getelementptr inbounds i8, ptr %argument625, i64 1884160
  %v280 = getelementptr inbounds i8, ptr %argument625, i64 901120
  %v281 = getelementptr inbounds i8, ptr %argument625, i64 655360
  %v282 = getelementptr inbounds i8, ptr %argument625, i64 950272
  %v283 = getelementptr inbounds i8, ptr %argument625, i64 3620864
  %v284 = getelementptr inbounds i8, ptr %argument625, i64 2129920
  %v285 = getelementptr inbounds i8, ptr %argument625, i64 2146304
  %v286 = getelementptr inbounds i8, ptr %argument625, i64 2162688
  %v287 = getelementptr inbounds i8, ptr %argument625, i64 2179072
  %v288 = getelementptr inbounds i8, ptr %argument625, i64 2195456
  call void @multiply_subtract_maximum_add_fusion(ptr %v272, ptr %v273, ptr %v274, ptr %v275, ptr %v276, ptr %v277, ptr %v278, ptr %v279, ptr %v280, ptr %v281, ptr %v282, ptr %v283, ptr %v284, ptr %v285, ptr %v286, ptr %v287, ptr %v288)
  %v289 = getelementptr inbounds i8, ptr %argument625, i64 393216
  %v290 = getelementptr inbounds i8, ptr %argument625, i64 344064
  %v291 = getelementptr inbounds i8, ptr %argument625, i64 671744
  %v292 = getelementptr inbounds i8, ptr %argument625, i64 524288
  %v293 = getelementptr inbounds i8, ptr %argument625, i64 966656
  %v294 = getelementptr inbounds i8, ptr %argument625, i64 1245184
  %v295 = getelementptr inbounds i8, ptr %argument625, i64 5030400
  %v296 = getelementptr inbounds i8, ptr %argument625, i64 950272
  %v297 = getelementptr inbounds i8, ptr %argument625, i64 1949696
  %v298 = getelementptr inbounds i8, ptr %argument625, i64 2211840
  %v299 = getelementptr inbounds i8, ptr %argument625, i64 2228224
  %v300 = getelementptr inbounds i8, ptr %argument625, i64 2244608
  %v301 = getelementptr inbounds i8, ptr %argument625, i64 2260992
  %v302 = getelementptr inbounds i8, ptr %argument625, i64 2277376
  %v303 = getelementptr inbounds i8, ptr %argument625, i64 2293760
  %v304 = getelementptr inbounds i8, ptr %argument625, i64 2310144
  %v305 = getelementptr inbounds i8, ptr %argument625, i64 2326528
  %v306 = getelementptr inbounds i8, ptr %argument625, i64 2342912
  call void @tanh_multiply_add_maximum_fusion(ptr %v289, ptr %v290, ptr %v291, ptr %v292, ptr %v293, ptr %v294, ptr %v295, ptr %v296, ptr %v297, ptr %v298, ptr %v299, ptr %v300, ptr %v301, ptr %v302, ptr %v303, ptr %v304, ptr %v305, ptr %v306)
  %v307 = getelementptr inbounds i8, ptr %argument625, i64 81920
  %v308 = getelementptr inbounds i8, ptr %argument625, i64 851968
  %v309 = getelementptr inbounds i8, ptr %argument625, i64 1818624
  %v310 = getelementptr inbounds i8, ptr %argument625, i64 835584
  %v311 = getelementptr inbounds i8, ptr %argument625, i64 245760
  %v312 = getelementptr inbounds i8, ptr %argument625, i64 393216
  %v313 = getelementptr inbounds i8, ptr %argument625, i64 16384
  %v314 = getelementptr inbounds i8, ptr %argument625, i64 1622016
  %v315 = getelementptr inbounds i8, ptr %argument625, i64 2342912
  %v316 = getelementptr inbounds i8, ptr %argument625, i64 2359296
  %v317 = getelementptr inbounds i8, ptr %argument625, i64 2375680
  %v318 = getelementptr inbounds i8, ptr %argument625, i64 2392064
  %v319 = getelementptr inbounds i8, ptr %argument625, i64 2408448
  %v320 = getelementptr inbounds i8, ptr %argument625, i64 2424832
  %v321 = getelementptr inbounds i8, ptr %argument625, i64 2441216
  %v322 = getelementptr inbounds i8, ptr %argument625, i64 2457600
  %v323 = getelementptr inbounds i8, ptr %argument625, i64 2473984
  %v324 = getelementptr inbounds i8, ptr %argument625, i64 2490368
  %v325 = getelementptr inbounds i8, ptr %argument625, i64 2506752
  call void @maximum_minimum_multiply_subtract_fusion(ptr %v307, ptr %v308, ptr %v309, ptr %v310, ptr %v311, ptr %v312, ptr %v313, ptr %v314, ptr %v315, ptr %v316, ptr %v317, ptr %v318, ptr %v319, ptr %v320, ptr %v321, ptr %v322, ptr %v323, ptr %v324, ptr %v325)
  %v326 = getelementptr inbounds i8, ptr %argument625, i64 147456
  %v327 = getelementptr inbounds i8, ptr %argument625, i64 344064
  %v328 = getelementptr inbounds i8, ptr %argument625, i64 1622016
  %v329 = getelementptr inbounds i8, ptr %argument625, i64 229376
  %v330 = getelementptr inbounds i8, ptr %argument625, i64 540672
  %v331 = getelementptr inbounds i8, ptr %argument625, i64 1638400
  %v332 = getelementptr inbounds i8, ptr %argument625, i64 2375680
  %v333 = getelementptr inbounds i8, ptr %argument625, i64 163840
  %v334 = getelementptr inbounds i8, ptr %argument625, i64 1818624
  %v335 = getelementptr inbounds i8, ptr %argument625, i64 2523136
  %v336 = getelementptr inbounds i8, ptr %argument625, i64 2539520
  %v337 = getelementptr inbounds i8, ptr %argument625, i64 2555904
  %v338 = getelementptr inbounds i8, ptr %argument625, i64 2572288
  %v339 = getelementptr inbounds i8, ptr %argument625, i64 2588672
  %v340 = getelementptr inbounds i8, ptr %argument625, i64 2605056
  %v341 = getelementptr inbounds i8, ptr %argument625, i64 2621440
  %v342 = getelementptr inbounds i8, ptr %argument625, i64 2637824
  %v343 = getelementptr inbounds i8, ptr %argument625, i64 2654208
  call void @multiply_add_tanh_minimum_fusion(ptr %v326, ptr %v327, ptr %v328, ptr %v329, ptr %v330, ptr %v331, ptr %v332, ptr %v333, ptr %v334, ptr %v335, ptr %v336, ptr %v337, ptr %v338, ptr %v339, ptr %v340, ptr %v341, ptr %v342, ptr %v343)
  %v344 = getelementptr inbounds i8, ptr %argument625, i64 933888
  %v345 = getelementptr inbounds i8, ptr %argument625, i64 98304
  %v346 = getelementptr inbounds i8, ptr %argument625, i64 2457600
  %v347 = getelementptr inbounds i8, ptr %argument625, i64 2064384
  %v348 = getelementptr inbounds i8, ptr %argument625, i64 1671168
  %v349 = getelementptr inbounds i8, ptr %argument625, i64 5030144
  %v350 = getelementptr inbounds i8, ptr %argument625, i64 2539520
  %v351 = getelementptr inbounds i8, ptr %argument625, i64 360448
  %v352 = getelementptr inbounds i8, ptr %argument625, i64 2392064
  %v353 = getelementptr inbounds i8, ptr %argument625, i64 344064
  %v354 = getelementptr inbounds i8, ptr %argument625, i64 2670592
  %v355 = getelementptr inbounds i8, ptr %argument625, i64 2686976
  %v356 = getelementptr inbounds i8, ptr %argument625, i64 2703360
  %v357 = getelementptr inbounds i8, ptr %argument625, i64 2719744
  %v358 = getelementptr inbounds i8, ptr %argument625, i64 2736128
  %v359 = getelementptr inbounds i8, ptr %argument625, i64 2752512
  call void @multiply_maximum_add_tanh_fusion(ptr %v344, ptr %v345, ptr %argument0, ptr %v346, ptr %argument625, ptr %v347, ptr %v348, ptr %v349, ptr %v350, ptr %v351, ptr %v352, ptr %v353, ptr %argument2, ptr %v354, ptr %v355, ptr %v356, ptr %v357, ptr %v358, ptr %v359)
  %v360 = getelementptr inbounds i8, ptr %argument625, i64 147456
  %v361 = getelementptr inbounds i8, ptr %argument625, i64 1146880
  %v362 = getelementptr inbounds i8, ptr %argument625, i64 2768896
  %v363 = getelementptr inbounds i8, ptr %argument625, i64 1409024
  %v364 = getelementptr inbounds i8, ptr %argument625, i64 1343488
  %v365 = getelementptr inbounds i8, ptr %argument625, i64 802816
  %v366 = getelementptr inbounds i8, ptr %argument625, i64 1671168
  %v367 = getelementptr inbounds i8, ptr %argument625, i64 2392064
  %v368 = getelementptr inbounds i8, ptr %argument625, i64 1212416
  %v369 = getelementptr inbounds i8, ptr %argument625, i64 2146304
  %v370 = getelementptr inbounds i8, ptr %argument625, i64 1310720
  %v371 = getelementptr inbounds i8, ptr %argument625, i64 2555904
  %v372 = getelementptr inbounds i8, ptr %argument625, i64 294912
  %v373 = getelementptr inbounds i8, ptr %argument625, i64 1654784
  %v374 = getelementptr inbounds i8, ptr %argument625, i64 1769472
  %v375 = getelementptr inbounds i8, ptr %argument625, i64 245760
  %v376 = getelementptr inbounds i8, ptr %argument625, i64 409600
  %v377 = getelementptr inbounds i8, ptr %argument625, i64 491520
  %v378 = getelementptr inbounds i8, ptr %argument625, i64 1425408
  %v379 = getelementptr inbounds i8, ptr %argument625, i64 4407296
  %v380 = getelementptr inbounds i8, ptr %argument625, i64 1277952
  %v381 = getelementptr inbounds i8, ptr %argument625, i64 524288
  %v382 = getelementptr inbounds i8, ptr %argument625, i64 327680
  %v383 = getelementptr inbounds i8, ptr %argument625, i64 65536
  %v384 = getelementptr inbounds i8, ptr %argument625, i64 950272
  %v385 = getelementptr inbounds i8, ptr %argument625, i64 344064
  %v386 = getelementptr inbounds i8, ptr %argument625, i64 851968
  call void @add_maximum_add_fusion(ptr %v360, ptr %v361, ptr %v362, ptr %v363, ptr %v364, ptr %v365, ptr %v366, ptr %v367, ptr %v368, ptr %v369, ptr %v370, ptr %v371, ptr %v372, ptr %argument2, ptr %v373, ptr %v374, ptr %v375, ptr %v376, ptr %v377, ptr %v378, ptr %v379, ptr %v380, ptr %v381, ptr %v382, ptr %v383, ptr %v384, ptr %v385, ptr %v386)
  %v387 = getelementptr inbounds i8, ptr %argument625, i64 294912
  %v388 = getelementptr inbounds i8, ptr %argument625, i64 5030656
  call void @reduce_fusion_110(ptr %v387, ptr %v388)
  %v389 = getelementptr inbounds i8, ptr %argument625, i64 5030656
  call void @wrapped_tanh_540(ptr %v389)
  %v390 = getelementptr inbounds i8, ptr %argument625, i64 327680
  %v391 = getelementptr inbounds i8, ptr %argument625, i64 606208
  %v392 = getelementptr inbounds i8, ptr %argument625, i64 65536
  call void @d73(ptr %v390, ptr %v391, ptr %v392)
  %v393 = getelementptr inbounds i8, ptr %argument625, i64 2244608
  %v394 = getelementptr inbounds i8, ptr %argument625, i64 180224
  %v395 = getelementptr inbounds i8, ptr %argument625, i64 327680
  call void @d73(ptr %v393, ptr %v394, ptr %v395)
  %v396 = getelementptr inbounds i8, ptr %argument625, i64 1835008
  %v397 = getelementptr inbounds i8, ptr %argument625, i64 868352
  call void @wrapped_maximum_143(ptr %v396, ptr %v397)
  %v398 = getelementptr inbounds i8, ptr %argument625, i64 1802240
  %v399 = getelementptr inbounds i8, ptr %argument625, i64 3621120
  call void @reduce_fusion_110(ptr %v398, ptr %v399)
  %v400 = getelementptr inbounds i8, ptr %argument625, i64 3621120
  call void @wrapped_tanh_540(ptr %v400)
  %v401 = getelementptr inbounds i8, ptr %argument625, i64 2457600
  %v402 = getelementptr inbounds i8, ptr %argument625, i64 3621376
  call void @reduce_fusion_110(ptr %v401, ptr %v402)
  %v403 = getelementptr inbounds i8, ptr %argument625, i64 3621376
  call void @wrapped_tanh_540(ptr %v403)
  %v404 = getelementptr inbounds i8, ptr %argument625, i64 65536
  %v405 = getelementptr inbounds i8, ptr %argument625, i64 1277952
  %v406 = getelementptr inbounds i8, ptr %argument625, i64 1130496
  %v407 = getelementptr inbounds i8, ptr %argument625, i64 851968
  %v408 = getelementptr inbounds i8, ptr %argument625, i64 5030400
  %v409 = getelementptr inbounds i8, ptr %argument625, i64 458752
  %v410 = getelementptr inbounds i8, ptr %argument625, i64 966656
  %v411 = getelementptr inbounds i8, ptr %argument625, i64 2310144
  %v412 = getelementptr inbounds i8, ptr %argument625, i64 1851392
  %v413 = getelementptr inbounds i8, ptr %argument625, i64 2555904
  %v414 = getelementptr inbounds i8, ptr %argument625, i64 180224
  %v415 = getelementptr inbounds i8, ptr %argument625, i64 1212416
  %v416 = getelementptr inbounds i8, ptr %argument625, i64 1310720
  %v417 = getelementptr inbounds i8, ptr %argument625, i64 1343488
  %v418 = getelementptr inbounds i8, ptr %argument625, i64 1425408
  call void @tanh_add_multiply_maximum_fusion(ptr %v404, ptr %v405, ptr %v406, ptr %v407, ptr %v408, ptr %v409, ptr %v410, ptr %v411, ptr %v412, ptr %v413, ptr %v414, ptr %v415, ptr %v416, ptr %v417, ptr %v418)
  %v419 = getelementptr inbounds i8, ptr %argument625, i64 65536
  %v420 = getelementptr inbounds i8, ptr %argument625, i64 5816320
  call void @reduce_fusion_110(ptr %v419, ptr %v420)
  %v421 = getelementptr inbounds i8, ptr %argument625, i64 5816320
  call void @wrapped_tanh_540(ptr %v421)
  %v422 = getelementptr inbounds i8, ptr %argument625, i64 5030144
  %v423 = getelementptr inbounds i8, ptr %argument625, i64 5030912
  call void @wrapped_tanh_533(ptr %v422, ptr %v423)
  %v424 = getelementptr inbounds i8, ptr %argument625, i64 557056
  %v425 = getelementptr inbounds i8, ptr %argument625, i64 507904
  %v426 = getelementptr inbounds i8, ptr %argument625, i64 245760
  %v427 = getelementptr inbounds i8, ptr %argument625, i64 1556480
  %v428 = getelementptr inbounds i8, ptr %argument625, i64 5030912
  %v429 = getelementptr inbounds i8, ptr %argument625, i64 2146304
  %v430 = getelementptr inbounds i8, ptr %argument625, i64 1130496
  %v431 = getelementptr inbounds i8, ptr %argument625, i64 1769472
  %v432 = getelementptr inbounds i8, ptr %argument625, i64 2768896
  %v433 = getelementptr inbounds i8, ptr %argument625, i64 2785280
  %v434 = getelementptr inbounds i8, ptr %argument625, i64 2801664
  %v435 = getelementptr inbounds i8, ptr %argument625, i64 2818048
  %v436 = getelementptr inbounds i8, ptr %argument625, i64 2834432
  %v437 = getelementptr inbounds i8, ptr %argument625, i64 2850816
  %v438 = getelementptr inbounds i8, ptr %argument625, i64 2867200
  call void @tanh_multiply_minimum_maximum_fusion(ptr %v424, ptr %v425, ptr %v426, ptr %v427, ptr %v428, ptr %v429, ptr %argument2, ptr %v430, ptr %v431, ptr %v432, ptr %v433, ptr %v434, ptr %v435, ptr %v436, ptr %v437, ptr %v438)
  %v439 = getelementptr inbounds i8, ptr %argument625, i64 2359296
  %v440 = getelementptr inbounds i8, ptr %argument625, i64 1605632
  %v441 = getelementptr inbounds i8, ptr %argument625, i64 4636672
  %v442 = getelementptr inbounds i8, ptr %argument625, i64 1015808
  %v443 = getelementptr inbounds i8, ptr %argument625, i64 196608
  %v444 = getelementptr inbounds i8, ptr %argument625, i64 2473984
  %v445 = getelementptr inbounds i8, ptr %argument625, i64 2506752
  %v446 = getelementptr inbounds i8, ptr %argument625, i64 2850816
  %v447 = getelementptr inbounds i8, ptr %argument625, i64 114688
  %v448 = getelementptr inbounds i8, ptr %argument625, i64 2883584
  %v449 = getelementptr inbounds i8, ptr %argument625, i64 2899968
  %v450 = getelementptr inbounds i8, ptr %argument625, i64 2916352
  %v451 = getelementptr inbounds i8, ptr %argument625, i64 2932736
  %v452 = getelementptr inbounds i8, ptr %argument625, i64 2949120
  %v453 = getelementptr inbounds i8, ptr %argument625, i64 2965504
  %v454 = getelementptr inbounds i8, ptr %argument625, i64 2981888
  call void @minimum_tanh_maximum_fusion_2(ptr %v439, ptr %v440, ptr %v441, ptr %v442, ptr %v443, ptr %v444, ptr %v445, ptr %v446, ptr %v447, ptr %v448, ptr %v449, ptr %v450, ptr %v451, ptr %v452, ptr %v453, ptr %v454)
  %v455 = getelementptr inbounds i8, ptr %argument625, i64 2080768
  %v456 = getelementptr inbounds i8, ptr %argument625, i64 2490368
  %v457 = getelementptr inbounds i8, ptr %argument625, i64 393216
  %v458 = getelementptr inbounds i8, ptr %argument625, i64 720896
  %v459 = getelementptr inbounds i8, ptr %argument625, i64 2473984
  %v460 = getelementptr inbounds i8, ptr %argument625, i64 2310144
  %v461 = getelementptr inbounds i8, ptr %argument625, i64 409600
  %v462 = getelementptr inbounds i8, ptr %argument625, i64 1425408
  %v463 = getelementptr inbounds i8, ptr %argument625, i64 2785280
  %v464 = getelementptr inbounds i8, ptr %argument625, i64 2654208
  %v465 = getelementptr inbounds i8, ptr %argument625, i64 2998272
  %v466 = getelementptr inbounds i8, ptr %argument625, i64 3014656
  %v467 = getelementptr inbounds i8, ptr %argument625, i64 3031040
  %v468 = getelementptr inbounds i8, ptr %argument625, i64 3047424
  %v469 = getelementptr inbounds i8, ptr %argument625, i64 3063808
  %v470 = getelementptr inbounds i8, ptr %argument625, i64 3080192
  %v471 = getelementptr inbounds i8, ptr %argument625, i64 3096576
  call void @multiply_tanh_maximum_add_fusion(ptr %v455, ptr %v456, ptr %v457, ptr %v458, ptr %v459, ptr %v460, ptr %v461, ptr %v462, ptr %v463, ptr %v464, ptr %v465, ptr %v466, ptr %v467, ptr %v468, ptr %v469, ptr %v470, ptr %v471)
  %v472 = getelementptr inbounds i8, ptr %argument625, i64 3014656
  %v473 = getelementptr inbounds i8, ptr %argument625, i64 5031168
  call void @reduce_fusion_99(ptr %v472, ptr %v473)
  %v474 = getelementptr inbounds i8, ptr %argument625, i64 5031168
  call void @wrapped_tanh_540(ptr %v474)
  %v475 = getelementptr inbounds i8, ptr %argument625, i64 2490368
  %v476 = getelementptr inbounds i8, ptr %argument625, i64 1146880
  %v477 = getelementptr inbounds i8, ptr %argument625, i64 3112960
  call void @d73(ptr %v475, ptr %v476, ptr %v477)
  %v478 = getelementptr inbounds i8, ptr %argument625, i64 2097152
  %v479 = getelementptr inbounds i8, ptr %argument625, i64 3129344
  call void @wrapped_transpose_6(ptr %v478, ptr %v479)
  %v480 = getelementptr inbounds i8, ptr %argument625, i64 2293760
  %v481 = getelementptr inbounds i8, ptr %argument625, i64 2326528
  %v482 = getelementptr inbounds i8, ptr %argument625, i64 1589248
  %v483 = getelementptr inbounds i8, ptr %argument625, i64 1114112
  %v484 = getelementptr inbounds i8, ptr %argument625, i64 1146880
  %v485 = getelementptr inbounds i8, ptr %argument625, i64 1343488
  %v486 = getelementptr inbounds i8, ptr %argument625, i64 2899968
  %v487 = getelementptr inbounds i8, ptr %argument625, i64 1261568
  %v488 = getelementptr inbounds i8, ptr %argument625, i64 1458176
  %v489 = getelementptr inbounds i8, ptr %argument625, i64 1687552
  %v490 = getelementptr inbounds i8, ptr %argument625, i64 1425408
  %v491 = getelementptr inbounds i8, ptr %argument625, i64 5030400
  %v492 = getelementptr inbounds i8, ptr %argument625, i64 1245184
  %v493 = getelementptr inbounds i8, ptr %argument625, i64 3145728
  %v494 = getelementptr inbounds i8, ptr %argument625, i64 3162112
  %v495 = getelementptr inbounds i8, ptr %argument625, i64 3178496
  %v496 = getelementptr inbounds i8, ptr %argument625, i64 3194880
  call void @maximum_multiply_subtract_minimum_fusion(ptr %v480, ptr %v481, ptr %v482, ptr %v483, ptr %v484, ptr %v485, ptr %v486, ptr %v487, ptr %v488, ptr %v489, ptr %v490, ptr %v491, ptr %argument2, ptr %v492, ptr %v493, ptr %v494, ptr %v495, ptr %v496)
  %v497 = getelementptr inbounds i8, ptr %argument625, i64 2768896
  %v498 = getelementptr inbounds i8, ptr %argument625, i64 393216
  %v499 = getelementptr inbounds i8, ptr %argument625, i64 2965504
  %v500 = getelementptr inbounds i8, ptr %argument625, i64 3145728
  %v501 = getelementptr inbounds i8, ptr %argument625, i64 540672
  %v502 = getelementptr inbounds i8, ptr %argument625, i64 491520
  %v503 = getelementptr inbounds i8, ptr %argument625, i64 1015808
  %v504 = getelementptr inbounds i8, ptr %argument625, i64 32768
  %v505 = getelementptr inbounds i8, ptr %argument625, i64 2310144
  %v506 = getelementptr inbounds i8, ptr %argument625, i64 1884160
  %v507 = getelementptr inbounds i8, ptr %argument625, i64 2326528
  %v508 = getelementptr inbounds i8, ptr %argument625, i64 655360
  %v509 = getelementptr inbounds i8, ptr %argument625, i64 3211264
  %v510 = getelementptr inbounds i8, ptr %argument625, i64 3227648
  %v511 = getelementptr inbounds i8, ptr %argument625, i64 3244032
  %v512 = getelementptr inbounds i8, ptr %argument625, i64 3260416
  call void @multiply_subtract_tanh_add_fusion(ptr %v497, ptr %v498, ptr %v499, ptr %v500, ptr %v501, ptr %v502, ptr %v503, ptr %v504, ptr %v505, ptr %v506, ptr %v507, ptr %v508, ptr %v509, ptr %v510, ptr %v511, ptr %v512)
  %v513 = getelementptr inbounds i8, ptr %argument625, i64 262144
  %v514 = getelementptr inbounds i8, ptr %argument625, i64 458752
  %v515 = getelementptr inbounds i8, ptr %argument625, i64 163840
  %v516 = getelementptr inbounds i8, ptr %argument625, i64 4407296
  %v517 = getelementptr inbounds i8, ptr %argument625, i64 2867200
  %v518 = getelementptr inbounds i8, ptr %argument625, i64 1048576
  %v519 = getelementptr inbounds i8, ptr %argument625, i64 2375680
  %v520 = getelementptr inbounds i8, ptr %argument625, i64 638976
  %v521 = getelementptr inbounds i8, ptr %argument625, i64 606208
  %v522 = getelementptr inbounds i8, ptr %argument625, i64 1589248
  %v523 = getelementptr inbounds i8, ptr %argument625, i64 3276800
  %v524 = getelementptr inbounds i8, ptr %argument625, i64 3293184
  %v525 = getelementptr inbounds i8, ptr %argument625, i64 3309568
  %v526 = getelementptr inbounds i8, ptr %argument625, i64 3325952
  %v527 = getelementptr inbounds i8, ptr %argument625, i64 3342336
  %v528 = getelementptr inbounds i8, ptr %argument625, i64 3358720
  %v529 = getelementptr inbounds i8, ptr %argument625, i64 3375104
  call void @tanh_multiply_minimum_subtract_fusion(ptr %v513, ptr %v514, ptr %v515, ptr %v516, ptr %v517, ptr %v518, ptr %v519, ptr %v520, ptr %v521, ptr %v522, ptr %v523, ptr %v524, ptr %v525, ptr %v526, ptr %v527, ptr %v528, ptr %v529)
  %v530 = getelementptr inbounds i8, ptr %argument625, i64 2342912
  %v531 = getelementptr inbounds i8, ptr %argument625, i64 1654784
  %v532 = getelementptr inbounds i8, ptr %argument625, i64 5029888
  %v533 = getelementptr inbounds i8, ptr %argument625, i64 1900544
  %v534 = getelementptr inbounds i8, ptr %argument625, i64 425984
  %v535 = getelementptr inbounds i8, ptr %argument625, i64 163840
  %v536 = getelementptr inbounds i8, ptr %argument625, i64 1441792
  %v537 = getelementptr inbounds i8, ptr %argument625, i64 1179648
  %v538 = getelementptr inbounds i8, ptr %argument625, i64 5030400
  %v539 = getelementptr inbounds i8, ptr %argument625, i64 2277376
  %v540 = getelementptr inbounds i8, ptr %argument625, i64 2736128
  %v541 = getelementptr inbounds i8, ptr %argument625, i64 557056
  %v542 = getelementptr inbounds i8, ptr %argument625, i64 5031168
  %v543 = getelementptr inbounds i8, ptr %argument625, i64 3391488
  %v544 = getelementptr inbounds i8, ptr %argument625, i64 3407872
  %v545 = getelementptr inbounds i8, ptr %argument625, i64 3424256
  %v546 = getelementptr inbounds i8, ptr %argument625, i64 3440640
  call void @maximum_multiply_tanh_fusion_3(ptr %v530, ptr %v531, ptr %v532, ptr %v533, ptr %v534, ptr %v535, ptr %v536, ptr %v537, ptr %v538, ptr %v539, ptr %v540, ptr %v541, ptr %v542, ptr %v543, ptr %v544, ptr %v545, ptr %v546)
  %v547 = getelementptr inbounds i8, ptr %argument625, i64 311296
  %v548 = getelementptr inbounds i8, ptr %argument625, i64 622592
  %v549 = getelementptr inbounds i8, ptr %argument625, i64 163840
  %v550 = getelementptr inbounds i8, ptr %argument625, i64 851968
  %v551 = getelementptr inbounds i8, ptr %argument625, i64 2457600
  %v552 = getelementptr inbounds i8, ptr %argument625, i64 1097728
  %v553 = getelementptr inbounds i8, ptr %argument625, i64 2408448
  %v554 = getelementptr inbounds i8, ptr %argument625, i64 229376
  %v555 = getelementptr inbounds i8, ptr %argument625, i64 3457024
  %v556 = getelementptr inbounds i8, ptr %argument625, i64 3473408
  %v557 = getelementptr inbounds i8, ptr %argument625, i64 3489792
  %v558 = getelementptr inbounds i8, ptr %argument625, i64 3506176
  %v559 = getelementptr inbounds i8, ptr %argument625, i64 3522560
  %v560 = getelementptr inbounds i8, ptr %argument625, i64 3538944
  call void @tanh_multiply_maximum_minimum_fusion(ptr %v547, ptr %v548, ptr %v549, ptr %v550, ptr %v551, ptr %v552, ptr %v553, ptr %v554, ptr %v555, ptr %v556, ptr %v557, ptr %v558, ptr %v559, ptr %v560)
  %v561 = getelementptr inbounds i8, ptr %argument625, i64 376832
  %v562 = getelementptr inbounds i8, ptr %argument625, i64 1703936
  %v563 = getelementptr inbounds i8, ptr %argument625, i64 622592
  %v564 = getelementptr inbounds i8, ptr %argument625, i64 507904
  %v565 = getelementptr inbounds i8, ptr %argument625, i64 2539520
  %v566 = getelementptr inbounds i8, ptr %argument625, i64 983040
  %v567 = getelementptr inbounds i8, ptr %argument625, i64 1966080
  %v568 = getelementptr inbounds i8, ptr %argument625, i64 3522560
  %v569 = getelementptr inbounds i8, ptr %argument625, i64 360448
  %v570 = getelementptr inbounds i8, ptr %argument625, i64 2883584
  %v571 = getelementptr inbounds i8, ptr %argument625, i64 3391488
  %v572 = getelementptr inbounds i8, ptr %argument625, i64 2310144
  %v573 = getelementptr inbounds i8, ptr %argument625, i64 344064
  %v574 = getelementptr inbounds i8, ptr %argument625, i64 3555328
  %v575 = getelementptr inbounds i8, ptr %argument625, i64 3571712
  %v576 = getelementptr inbounds i8, ptr %argument625, i64 3588096
  call void @subtract_maximum_tanh_fusion(ptr %v561, ptr %v562, ptr %v563, ptr %v564, ptr %v565, ptr %v566, ptr %v567, ptr %v568, ptr %v569, ptr %v570, ptr %v571, ptr %v572, ptr %v573, ptr %v574, ptr %v575, ptr %v576)
  %v577 = getelementptr inbounds i8, ptr %argument625, i64 327680
  %v578 = getelementptr inbounds i8, ptr %argument625, i64 704512
  %v579 = getelementptr inbounds i8, ptr %argument625, i64 2015232
  %v580 = getelementptr inbounds i8, ptr %argument625, i64 98304
  %v581 = getelementptr inbounds i8, ptr %argument625, i64 2867200
  %v582 = getelementptr inbounds i8, ptr %argument625, i64 3522560
  %v583 = getelementptr inbounds i8, ptr %argument625, i64 1966080
  %v584 = getelementptr inbounds i8, ptr %argument625, i64 851968
  %v585 = getelementptr inbounds i8, ptr %argument625, i64 884736
  %v586 = getelementptr inbounds i8, ptr %argument625, i64 3112960
  %v587 = getelementptr inbounds i8, ptr %argument625, i64 3129344
  %v588 = getelementptr inbounds i8, ptr %argument625, i64 3391488
  call void @tanh_subtract_multiply_minimum_fusion(ptr %v577, ptr %v578, ptr %v579, ptr %v580, ptr %v581, ptr %v582, ptr %v583, ptr %v584, ptr %v585, ptr %v586, ptr %v587, ptr %v588)
  %v589 = getelementptr inbounds i8, ptr %argument625, i64 1277952
  %v590 = getelementptr inbounds i8, ptr %argument625, i64 868352
  %v591 = getelementptr inbounds i8, ptr %argument625, i64 3604480
  call void @d73(ptr %v589, ptr %v590, ptr %v591)
  %v592 = getelementptr inbounds i8, ptr %argument625, i64 212992
  %v593 = getelementptr inbounds i8, ptr %argument625, i64 360448
  %v594 = getelementptr inbounds i8, ptr %argument625, i64 475136
  %v595 = getelementptr inbounds i8, ptr %argument625, i64 589824
  %v596 = getelementptr inbounds i8, ptr %argument625, i64 737280
  %v597 = getelementptr inbounds i8, ptr %argument625, i64 753664
  %v598 = getelementptr inbounds i8, ptr %argument625, i64 835584
  %v599 = getelementptr inbounds i8, ptr %argument625, i64 1064960
  %v600 = getelementptr inbounds i8, ptr %argument625, i64 5816320
  %v601 = getelementptr inbounds i8, ptr %argument625, i64 1163264
  %v602 = getelementptr inbounds i8, ptr %argument625, i64 1638400
  %v603 = getelementptr inbounds i8, ptr %argument625, i64 688128
  %v604 = getelementptr inbounds i8, ptr %argument625, i64 1949696
  %v605 = getelementptr inbounds i8, ptr %argument625, i64 884736
  %v606 = getelementptr inbounds i8, ptr %argument625, i64 1835008
  %v607 = getelementptr inbounds i8, ptr %argument625, i64 1933312
  %v608 = getelementptr inbounds i8, ptr %argument625, i64 1687552
  %v609 = getelementptr inbounds i8, ptr %argument625, i64 1261568
  %v610 = getelementptr inbounds i8, ptr %argument625, i64 1359872
  %v611 = getelementptr inbounds i8, ptr %argument625, i64 3621376
  %v612 = getelementptr inbounds i8, ptr %argument625, i64 1802240
  %v613 = getelementptr inbounds i8, ptr %argument625, i64 1376256
  %v614 = getelementptr inbounds i8, ptr %argument625, i64 5030656
  %v615 = getelementptr inbounds i8, ptr %argument625, i64 1392640
  %v616 = getelementptr inbounds i8, ptr %argument625, i64 2392064
  %v617 = getelementptr inbounds i8, ptr %argument625, i64 704512
  %v618 = getelementptr inbounds i8, ptr %argument625, i64 2277376
  %v619 = getelementptr inbounds i8, ptr %argument625, i64 262144
  %v620 = getelementptr inbounds i8, ptr %argument625, i64 1032192
  %v621 = getelementptr inbounds i8, ptr %argument625, i64 2293760
  %v622 = getelementptr inbounds i8, ptr %argument625, i64 2539520
  %v623 = getelementptr inbounds i8, ptr %argument625, i64 2211840
  %v624 = getelementptr inbounds i8, ptr %argument625, i64 1556480
  %v625 = getelementptr inbounds i8, ptr %argument625, i64 1441792
  %v626 = getelementptr inbounds i8, ptr %argument625, i64 2408448
  %v627 = getelementptr inbounds i8, ptr %argument625, i64 2424832
  %v628 = getelementptr inbounds i8, ptr %argument625, i64 393216
  %v629 = getelementptr inbounds i8, ptr %argument625, i64 3604480
  %v630 = getelementptr inbounds i8, ptr %argument625, i64 1720320
  %v631 = getelementptr inbounds i8, ptr %argument625, i64 458752
  %v632 = getelementptr inbounds i8, ptr %argument625, i64 917504
  %v633 = getelementptr inbounds i8, ptr %argument625, i64 950272
  %v634 = getelementptr inbounds i8, ptr %argument625, i64 1818624
  %v635 = getelementptr inbounds i8, ptr %argument625, i64 245760
  %v636 = getelementptr inbounds i8, ptr %argument625, i64 294912
  %v637 = getelementptr inbounds i8, ptr %argument625, i64 311296
  %v638 = getelementptr inbounds i8, ptr %argument625, i64 3621120
  %v639 = getelementptr inbounds i8, ptr %argument625, i64 2441216
  %v640 = getelementptr inbounds i8, ptr %argument625, i64 2490368
  %v641 = getelementptr inbounds i8, ptr %argument625, i64 2506752
  %v642 = getelementptr inbounds i8, ptr %argument625, i64 409600
  %v643 = getelementptr inbounds i8, ptr %argument625, i64 1769472
  %v644 = getelementptr inbounds i8, ptr %argument625, i64 901120
  %v645 = getelementptr inbounds i8, ptr %argument625, i64 1867776
  %v646 = getelementptr inbounds i8, ptr %argument625, i64 966656
  %v647 = getelementptr inbounds i8, ptr %argument625, i64 1409024
  %v648 = getelementptr inbounds i8, ptr %argument625, i64 2113536
  %v649 = getelementptr inbounds i8, ptr %argument625, i64 2048000
  %v650 = getelementptr inbounds i8, ptr %argument625, i64 2686976
  %v651 = getelementptr inbounds i8, ptr %argument625, i64 2195456
  %v652 = getelementptr inbounds i8, ptr %argument625, i64 3620864
  %v654 = getelementptr inbounds ptr, ptr %slot653, i64 0
  store ptr %v592, ptr %v654, align 8
  %v655 = getelementptr inbounds ptr, ptr %slot653, i64 1
  store ptr %v593, ptr %v655, align 8
  %v656 = getelementptr inbounds ptr, ptr %slot653, i64 2
  store ptr %v594, ptr %v656, align 8
  %v657 = getelementptr inbounds ptr, ptr %slot653, i64 3
  store ptr %v595, ptr %v657, align 8
  %v658 = getelementptr inbounds ptr, ptr %slot653, i64 4
  store ptr %v596, ptr %v658, align 8
  %v659 = getelementptr inbounds ptr, ptr %slot653, i64 5
  store ptr %v597, ptr %v659, align 8
  %v660 = getelementptr inbounds ptr, ptr %slot653, i64 6
  store ptr %argument4, ptr %v660, align 8
  %v661 = getelementptr inbounds ptr, ptr %slot653, i64 7
  store ptr %v598, ptr %v661, align 8
  %v662 = getelementptr inbounds ptr, ptr %slot653, i64 8
  store ptr %v599, ptr %v662, align 8
  %v663 = getelementptr inbounds ptr, ptr %slot653, i64 9
  store ptr %v600, ptr %v663, align 8
  %v664 = getelementptr inbounds ptr, ptr %slot653, i64 10
  store ptr %v601, ptr %v664, align 8
  %v665 = getelementptr inbounds ptr, ptr %slot653, i64 11
  store ptr %v602, ptr %v665, align 8
  %v666 = getelementptr inbounds ptr, ptr %slot653, i64 12
  store ptr %v603, ptr %v666, align 8
  %v667 = getelementptr inbounds ptr, ptr %slot653, i64 13
  store ptr %v604, ptr %v667, align 8
  %v668 = getelementptr inbounds ptr, ptr %slot653, i64 14
  store ptr %v605, ptr %v668, align 8
  %v669 = getelementptr inbounds ptr, ptr %slot653, i64 15
  store ptr %v606, ptr %v669, align 8
  %v670 = getelementptr inbounds ptr, ptr %slot653, i64 16
  store ptr %v607, ptr %v670, align 8
  %v671 = getelementptr inbounds ptr, ptr %slot653, i64 17
  store ptr %v608, ptr %v671, align 8
  %v672 = getelementptr inbounds ptr, ptr %slot653, i64 18
  store ptr %v609, ptr %v672, align 8
  %v673 = getelementptr inbounds ptr, ptr %slot653, i64 19
  store ptr %v610, ptr %v673, align 8
  %v674 = getelementptr inbounds ptr, ptr %slot653, i64 20
  store ptr %v611, ptr %v674, align 8
  %v675 = getelementptr inbounds ptr, ptr %slot653, i64 21
  store ptr %v612, ptr %v675, align 8
  %v676 = getelementptr inbounds ptr, ptr %slot653, i64 22
  store ptr %v613, ptr %v676, align 8
  %v677 = getelementptr inbounds ptr, ptr %slot653, i64 23
  store ptr %v614, ptr %v677, align 8
  %v678 = getelementptr inbounds ptr, ptr %slot653, i64 24
  store ptr %v615, ptr %v678, align 8
  %v679 = getelementptr inbounds ptr, ptr %slot653, i64 25
  store ptr %v616, ptr %v679, align 8
  %v680 = getelementptr inbounds ptr, ptr %slot653, i64 26
  store ptr %v617, ptr %v680, align 8
  %v681 = getelementptr inbounds ptr, ptr %slot653, i64 27
  store ptr %v618, ptr %v681, align 8
  %v682 = getelementptr inbounds ptr, ptr %slot653, i64 28
  store ptr %v619, ptr %v682, align 8
  %v683 = getelementptr inbounds ptr, ptr %slot653, i64 29
  store ptr %v620, ptr %v683, align 8
  %v684 = getelementptr inbounds ptr, ptr %slot653, i64 30
  store ptr %v621, ptr %v684, align 8
  %v685 = getelementptr inbounds ptr, ptr %slot653, i64 31
  store ptr %v622, ptr %v685, align 8
  %v686 = getelementptr inbounds ptr, ptr %slot653, i64 32
  store ptr %v623, ptr %v686, align 8
  %v687 = getelementptr inbounds ptr, ptr %slot653, i64 33
  store ptr %v624, ptr %v687, align 8
  %v688 = getelementptr inbounds ptr, ptr %slot653, i64 34
  store ptr %v625, ptr %v688, align 8
  %v689 = getelementptr inbounds ptr, ptr %slot653, i64 35
  store ptr %v626, ptr %v689, align 8
  %v690 = getelementptr inbounds ptr, ptr %slot653, i64 36
  store ptr %v627, ptr %v690, align 8
  %v691 = getelementptr inbounds ptr, ptr %slot653, i64 37
  store ptr %v628, ptr %v691, align 8
  %v692 = getelementptr inbounds ptr, ptr %slot653, i64 38
  store ptr %v629, ptr %v692, align 8
  %v693 = getelementptr inbounds ptr, ptr %slot653, i64 39
  store ptr %v630, ptr %v693, align 8
  %v694 = getelementptr inbounds ptr, ptr %slot653, i64 40
  store ptr %v631, ptr %v694, align 8
  %v695 = getelementptr inbounds ptr, ptr %slot653, i64 41
  store ptr %v632, ptr %v695, align 8
  %v696 = getelementptr inbounds ptr, ptr %slot653, i64 42
  store ptr %v633, ptr %v696, align 8
  %v697 = getelementptr inbounds ptr, ptr %slot653, i64 43
  store ptr %v634, ptr %v697, align 8
  %v698 = getelementptr inbounds ptr, ptr %slot653, i64 44
  store ptr %v635, ptr %v698, align 8
  %v699 = getelementptr inbounds ptr, ptr %slot653, i64 45
  store ptr %v636, ptr %v699, align 8
  %v700 = getelementptr inbounds ptr, ptr %slot653, i64 46
  store ptr %v637, ptr %v700, align 8
  %v701 = getelementptr inbounds ptr, ptr %slot653, i64 47
  store ptr %v638, ptr %v701, align 8
  %v702 = getelementptr inbounds ptr, ptr %slot653, i64 48
  store ptr %v639, ptr %v702, align 8
  %v703 = getelementptr inbounds ptr, ptr %slot653, i64 49
  store ptr %v640, ptr %v703, align 8
  %v704 = getelementptr inbounds ptr, ptr %slot653, i64 50
  store ptr %v641, ptr %v704, align 8
  %v705 = getelementptr inbounds ptr, ptr %slot653, i64 51
  store ptr %v642, ptr %v705, align 8
  %v706 = getelementptr inbounds ptr, ptr %slot653, i64 52
  store ptr %v643, ptr %v706, align 8
  %v707 = getelementptr inbounds ptr, ptr %slot653, i64 53
  store ptr %v644, ptr %v707, align 8
  %v708 = getelementptr inbounds ptr, ptr %slot653, i64 54
  store ptr %v645, ptr %v708, align 8
  %v709 = getelementptr inbounds ptr, ptr %slot653, i64 55
  store ptr %v646, ptr %v709, align 8
  %v710 = getelementptr inbounds ptr, ptr %slot653, i64 56
  store ptr %v647, ptr %v710, align 8
  %v711 = getelementptr inbounds ptr, ptr %slot653, i64 57
  store ptr %v648, ptr %v711, align 8
  %v712 = getelementptr inbounds ptr, ptr %slot653, i64 58
  store ptr %v649, ptr %v712, align 8
  %v713 = getelementptr inbounds ptr, ptr %slot653, i64 59
  store ptr %v650, ptr %v713, align 8
  %v714 = getelementptr inbounds ptr, ptr %slot653, i64 60
  store ptr %v651, ptr %v714, align 8
  %v715 = getelementptr inbounds ptr, ptr %slot653, i64 61
  store ptr %v652, ptr %v715, align 8
  call void @xla_explorer_parallel_for(ptr @add_multiply_add_fusion_32_task, ptr %slot653, i64 3)
  %v716 = getelementptr inbounds i8, ptr %argument625, i64 114688
  %v717 = getelementptr inbounds i8, ptr %argument625, i64 655360
  %v718 = getelementptr inbounds i8, ptr %argument625, i64 5031424
  call void @maximum_tanh_reduce_fusion(ptr %v716, ptr %v717, ptr %v718)
  %v719 = getelementptr inbounds i8, ptr %argument625, i64 2572288
  %v720 = getelementptr inbounds i8, ptr %argument625, i64 2752512
  %v721 = getelementptr inbounds i8, ptr %argument625, i64 114688
  call void @d73(ptr %v719, ptr %v720, ptr %v721)
  %v722 = getelementptr inbounds i8, ptr %argument625, i64 507904
  %v723 = getelementptr inbounds i8, ptr %argument625, i64 180224
  %v724 = getelementptr inbounds i8, ptr %argument625, i64 294912
  call void @d73(ptr %v722, ptr %v723, ptr %v724)
  %v725 = getelementptr inbounds i8, ptr %argument625, i64 704512
  %v726 = getelementptr inbounds i8, ptr %argument625, i64 3981312
  call void @multiply_reduce_fusion_14(ptr %v725, ptr %v726)
  %v727 = getelementptr inbounds i8, ptr %argument625, i64 3981312
  call void @wrapped_tanh_540(ptr %v727)
  %v728 = getelementptr inbounds i8, ptr %argument625, i64 3981312
  %v729 = getelementptr inbounds i8, ptr %argument625, i64 180224
  call void @wrapped_broadcast_5(ptr %v728, ptr %v729)
  %v730 = getelementptr inbounds i8, ptr %argument625, i64 180224
  %v731 = getelementptr inbounds i8, ptr %argument625, i64 1310720
  %v732 = getelementptr inbounds i8, ptr %argument625, i64 360448
  call void @d73(ptr %v730, ptr %v731, ptr %v732)
  %v733 = getelementptr inbounds i8, ptr %argument625, i64 1196032
  %v734 = getelementptr inbounds i8, ptr %argument625, i64 4685824
  call void @reduce_fusion_110(ptr %v733, ptr %v734)
  %v735 = getelementptr inbounds i8, ptr %argument625, i64 2129920
  %v736 = getelementptr inbounds i8, ptr %argument625, i64 3686400
  call void @reduce_fusion_110(ptr %v735, ptr %v736)
  %v737 = getelementptr inbounds i8, ptr %argument625, i64 5031424
  call void @wrapped_tanh_540(ptr %v737)
  %v738 = getelementptr inbounds i8, ptr %argument625, i64 2228224
  %v739 = getelementptr inbounds i8, ptr %argument625, i64 5031424
  %v740 = getelementptr inbounds i8, ptr %argument625, i64 180224
  call void @tanh_minimum_fusion_9(ptr %v738, ptr %v739, ptr %v740)
  %v741 = getelementptr inbounds i8, ptr %argument625, i64 1310720
  %v742 = getelementptr inbounds i8, ptr %argument625, i64 2228224
  %v743 = getelementptr inbounds i8, ptr %argument625, i64 409600
  call void @d73(ptr %v741, ptr %v742, ptr %v743)
  %v744 = getelementptr inbounds i8, ptr %argument625, i64 409600
  %v745 = getelementptr inbounds i8, ptr %argument625, i64 999424
  %v746 = getelementptr inbounds i8, ptr %argument625, i64 786432
  %v747 = getelementptr inbounds i8, ptr %argument625, i64 5031168
  %v748 = getelementptr inbounds i8, ptr %argument625, i64 2359296
  %v749 = getelementptr inbounds i8, ptr %argument625, i64 1359872
  %v750 = getelementptr inbounds i8, ptr %argument625, i64 1622016
  %v751 = getelementptr inbounds i8, ptr %argument625, i64 802816
  %v752 = getelementptr inbounds i8, ptr %argument625, i64 3047424
  %v753 = getelementptr inbounds i8, ptr %argument625, i64 655360
  %v754 = getelementptr inbounds i8, ptr %argument625, i64 704512
  %v755 = getelementptr inbounds i8, ptr %argument625, i64 835584
  %v756 = getelementptr inbounds i8, ptr %argument625, i64 950272
  call void @tanh_multiply_add_fusion_3(ptr %v744, ptr %v745, ptr %v746, ptr %v747, ptr %v748, ptr %argument625, ptr %v749, ptr %v750, ptr %v751, ptr %v752, ptr %v753, ptr %v754, ptr %v755, ptr %v756)
  %v757 = getelementptr inbounds i8, ptr %argument625, i64 1622016
  %v758 = getelementptr inbounds i8, ptr %argument625, i64 5031680
  call void @reduce_fusion_99(ptr %v757, ptr %v758)
  %v759 = getelementptr inbounds i8, ptr %argument625, i64 344064
  %v760 = getelementptr inbounds i8, ptr %argument625, i64 2408448
  call void @reduce_fusion_99(ptr %v759, ptr %v760)
  %v761 = getelementptr inbounds i8, ptr %argument625, i64 2408448
  call void @wrapped_tanh_540(ptr %v761)
  %v762 = getelementptr inbounds i8, ptr %argument625, i64 81920
  %v763 = getelementptr inbounds i8, ptr %argument625, i64 606208
  %v764 = getelementptr inbounds i8, ptr %argument625, i64 1196032
  call void @d73(ptr %v762, ptr %v763, ptr %v764)
  %v765 = getelementptr inbounds i8, ptr %argument625, i64 4685824
  call void @wrapped_tanh_540(ptr %v765)
  %v766 = getelementptr inbounds i8, ptr %argument625, i64 2703360
  %v767 = getelementptr inbounds i8, ptr %argument625, i64 5031936
  call void @reduce_fusion_99(ptr %v766, ptr %v767)
  %v768 = getelementptr inbounds i8, ptr %argument625, i64 5031936
  call void @wrapped_tanh_540(ptr %v768)
  %v769 = getelementptr inbounds i8, ptr %argument625, i64 3686400
  call void @wrapped_tanh_540(ptr %v769)
  %v770 = getelementptr inbounds i8, ptr %argument625, i64 1933312
  %v771 = getelementptr inbounds i8, ptr %argument625, i64 884736
  %v772 = getelementptr inbounds i8, ptr %argument625, i64 65536
  %v773 = getelementptr inbounds i8, ptr %argument625, i64 671744
  %v774 = getelementptr inbounds i8, ptr %argument625, i64 81920
  %v775 = getelementptr inbounds i8, ptr %argument625, i64 1310720
  call void @minimum_subtract_fusion_3(ptr %v770, ptr %v771, ptr %v772, ptr %v773, ptr %v774, ptr %v775)
  %v776 = getelementptr inbounds i8, ptr %argument625, i64 81920
  %v777 = getelementptr inbounds i8, ptr %argument625, i64 5947392
  call void @tanh_reduce_fusion_7(ptr %v776, ptr %v777)
  %v778 = getelementptr inbounds i8, ptr %argument625, i64 5947392
  call void @wrapped_tanh_540(ptr %v778)
  %v779 = getelementptr inbounds i8, ptr %argument625, i64 2457600
  %v780 = getelementptr inbounds i8, ptr %argument625, i64 229376
  %v781 = getelementptr inbounds i8, ptr %argument625, i64 1409024
  call void @d73(ptr %v779, ptr %v780, ptr %v781)
  %v782 = getelementptr inbounds i8, ptr %argument625, i64 1409024
  call void @multiply_tanh_fusion_124(ptr %v782)
  %v783 = getelementptr inbounds i8, ptr %argument625, i64 1409024
  %v784 = getelementptr inbounds i8, ptr %argument625, i64 5032192
  call void @reduce_fusion_99(ptr %v783, ptr %v784)
  %v785 = getelementptr inbounds i8, ptr %argument625, i64 5032192
  call void @wrapped_tanh_540(ptr %v785)
  %v786 = getelementptr inbounds i8, ptr %argument625, i64 2965504
  %v787 = getelementptr inbounds i8, ptr %argument625, i64 1556480
  call void @d73(ptr %v786, ptr %argument1, ptr %v787)
  %v788 = getelementptr inbounds i8, ptr %argument625, i64 1949696
  %v789 = getelementptr inbounds i8, ptr %argument625, i64 1556480
  %v790 = getelementptr inbounds i8, ptr %argument625, i64 671744
  %v791 = getelementptr inbounds i8, ptr %argument625, i64 2146304
  %v792 = getelementptr inbounds i8, ptr %argument625, i64 442368
  %v793 = getelementptr inbounds i8, ptr %argument625, i64 2555904
  %v794 = getelementptr inbounds i8, ptr %argument625, i64 5030400
  %v795 = getelementptr inbounds i8, ptr %argument625, i64 3211264
  %v796 = getelementptr inbounds i8, ptr %argument625, i64 2572288
  %v797 = getelementptr inbounds i8, ptr %argument625, i64 507904
  %v798 = getelementptr inbounds i8, ptr %argument625, i64 1622016
  %v799 = getelementptr inbounds i8, ptr %argument625, i64 1638400
  %v800 = getelementptr inbounds i8, ptr %argument625, i64 1720320
  %v801 = getelementptr inbounds i8, ptr %argument625, i64 1769472
  %v802 = getelementptr inbounds i8, ptr %argument625, i64 2048000
  call void @tanh_subtract_multiply_add_fusion(ptr %v788, ptr %v789, ptr %v790, ptr %v791, ptr %v792, ptr %v793, ptr %v794, ptr %v795, ptr %v796, ptr %v797, ptr %v798, ptr %v799, ptr %v800, ptr %v801, ptr %v802)
  %v803 = getelementptr inbounds i8, ptr %argument625, i64 2048000
  %v804 = getelementptr inbounds i8, ptr %argument625, i64 5032448
  call void @tanh_reduce_fusion_8(ptr %v803, ptr %v804)
  %v805 = getelementptr inbounds i8, ptr %argument625, i64 5032448
  call void @wrapped_tanh_540(ptr %v805)
  %v806 = getelementptr inbounds i8, ptr %argument625, i64 1179648
  %v807 = getelementptr inbounds i8, ptr %argument625, i64 5032704
  call void @reduce_fusion_110(ptr %v806, ptr %v807)
  %v808 = getelementptr inbounds i8, ptr %argument625, i64 5032704
  call void @wrapped_tanh_540(ptr %v808)
  %v809 = getelementptr inbounds i8, ptr %argument625, i64 5031680
  call void @wrapped_tanh_540(ptr %v809)
  %v810 = getelementptr inbounds i8, ptr %argument625, i64 1146880
  %v811 = getelementptr inbounds i8, ptr %argument625, i64 344064
  %v812 = getelementptr inbounds i8, ptr %argument625, i64 2424832
  %v813 = getelementptr inbounds i8, ptr %argument625, i64 2605056
  %v814 = getelementptr inbounds i8, ptr %argument625, i64 262144
  %v815 = getelementptr inbounds i8, ptr %argument625, i64 819200
  %v816 = getelementptr inbounds i8, ptr %argument625, i64 540672
  %v817 = getelementptr inbounds i8, ptr %argument625, i64 2408448
  %v818 = getelementptr inbounds i8, ptr %argument625, i64 999424
  %v819 = getelementptr inbounds i8, ptr %argument625, i64 2752512
  %v820 = getelementptr inbounds i8, ptr %argument625, i64 753664
  %v821 = getelementptr inbounds i8, ptr %argument625, i64 442368
  %v822 = getelementptr inbounds i8, ptr %argument625, i64 2113536
  %v823 = getelementptr inbounds i8, ptr %argument625, i64 2129920
  %v824 = getelementptr inbounds i8, ptr %argument625, i64 2195456
  call void @multiply_maximum_tanh_subtract_fusion(ptr %v810, ptr %v811, ptr %v812, ptr %v813, ptr %v814, ptr %v815, ptr %v816, ptr %v817, ptr %v818, ptr %v819, ptr %v820, ptr %v821, ptr %v822, ptr %v823, ptr %v824)
  %v825 = getelementptr inbounds i8, ptr %argument625, i64 3129344
  %v826 = getelementptr inbounds i8, ptr %argument625, i64 3358720
  %v827 = getelementptr inbounds i8, ptr %argument625, i64 3489792
  %v828 = getelementptr inbounds i8, ptr %argument625, i64 2195456
  %v829 = getelementptr inbounds i8, ptr %argument625, i64 2179072
  %v830 = getelementptr inbounds i8, ptr %argument625, i64 589824
  %v831 = getelementptr inbounds i8, ptr %argument625, i64 3014656
  %v832 = getelementptr inbounds i8, ptr %argument625, i64 5032704
  %v833 = getelementptr inbounds i8, ptr %argument625, i64 2408448
  %v834 = getelementptr inbounds i8, ptr %argument625, i64 2490368
  %v835 = getelementptr inbounds i8, ptr %argument625, i64 2539520
  %v836 = getelementptr inbounds i8, ptr %argument625, i64 2686976
  %v837 = getelementptr inbounds i8, ptr %argument625, i64 3604480
  %v838 = getelementptr inbounds i8, ptr %argument625, i64 3620864
  %v839 = getelementptr inbounds i8, ptr %argument625, i64 3637248
  call void @maximum_multiply_tanh_fusion_2(ptr %v825, ptr %v826, ptr %v827, ptr %v828, ptr %v829, ptr %v830, ptr %v831, ptr %v832, ptr %v833, ptr %v834, ptr %v835, ptr %v836, ptr %v837, ptr %v838, ptr %v839)
  %v840 = getelementptr inbounds i8, ptr %argument625, i64 2490368
  %v841 = getelementptr inbounds i8, ptr %argument625, i64 5032960
  call void @reduce_fusion_110(ptr %v840, ptr %v841)
  %v842 = getelementptr inbounds i8, ptr %argument625, i64 5032960
  call void @wrapped_tanh_540(ptr %v842)
  %v843 = getelementptr inbounds i8, ptr %argument625, i64 1540096
  %v844 = getelementptr inbounds i8, ptr %argument625, i64 49152
  %v845 = getelementptr inbounds i8, ptr %argument625, i64 32768
  %v846 = getelementptr inbounds i8, ptr %argument625, i64 2621440
  %v847 = getelementptr inbounds i8, ptr %argument625, i64 3047424
  %v848 = getelementptr inbounds i8, ptr %argument625, i64 2752512
  %v849 = getelementptr inbounds i8, ptr %argument625, i64 3686400
  %v850 = getelementptr inbounds i8, ptr %argument625, i64 245760
  %v851 = getelementptr inbounds i8, ptr %argument625, i64 1884160
  %v852 = getelementptr inbounds i8, ptr %argument625, i64 2048000
  %v853 = getelementptr inbounds i8, ptr %argument625, i64 3653632
  %v854 = getelementptr inbounds i8, ptr %argument625, i64 3670016
  call void @multiply_minimum_tanh_add_fusion(ptr %v843, ptr %v844, ptr %v845, ptr %v846, ptr %v847, ptr %v848, ptr %v849, ptr %v850, ptr %v851, ptr %v852, ptr %v853, ptr %v854)
  %v855 = getelementptr inbounds i8, ptr %argument625, i64 311296
  %v856 = getelementptr inbounds i8, ptr %argument625, i64 1605632
  %v857 = getelementptr inbounds i8, ptr %argument625, i64 1343488
  %v858 = getelementptr inbounds i8, ptr %argument625, i64 229376
  %v859 = getelementptr inbounds i8, ptr %argument625, i64 344064
  %v860 = getelementptr inbounds i8, ptr %argument625, i64 2998272
  %v861 = getelementptr inbounds i8, ptr %argument625, i64 5032192
  %v862 = getelementptr inbounds i8, ptr %argument625, i64 1687552
  %v863 = getelementptr inbounds i8, ptr %argument625, i64 1523712
  %v864 = getelementptr inbounds i8, ptr %argument625, i64 851968
  %v865 = getelementptr inbounds i8, ptr %argument625, i64 2146304
  %v866 = getelementptr inbounds i8, ptr %argument625, i64 5947392
  %v867 = getelementptr inbounds i8, ptr %argument625, i64 3686400
  %v868 = getelementptr inbounds i8, ptr %argument625, i64 3702784
  call void @multiply_maximum_subtract_fusion_5(ptr %v855, ptr %v856, ptr %v857, ptr %v858, ptr %v859, ptr %v860, ptr %v861, ptr %v862, ptr %v863, ptr %v864, ptr %v865, ptr %v866, ptr %v867, ptr %v868)
  %v869 = getelementptr inbounds i8, ptr %argument625, i64 1196032
  %v870 = getelementptr inbounds i8, ptr %argument625, i64 573440
  %v871 = getelementptr inbounds i8, ptr %argument625, i64 2359296
  %v872 = getelementptr inbounds i8, ptr %argument625, i64 901120
  %v873 = getelementptr inbounds i8, ptr %argument625, i64 1671168
  %v874 = getelementptr inbounds i8, ptr %argument625, i64 147456
  %v875 = getelementptr inbounds i8, ptr %argument625, i64 5031168
  %v876 = getelementptr inbounds i8, ptr %argument625, i64 229376
  %v877 = getelementptr inbounds i8, ptr %argument625, i64 1540096
  %v878 = getelementptr inbounds i8, ptr %argument625, i64 1343488
  %v879 = getelementptr inbounds i8, ptr %argument625, i64 3719168
  call void @tanh_multiply_maximum_fusion_2(ptr %v869, ptr %v870, ptr %v871, ptr %v872, ptr %v873, ptr %v874, ptr %v875, ptr %v876, ptr %v877, ptr %v878, ptr %v879)
  %v880 = getelementptr inbounds i8, ptr %argument625, i64 1327104
  %v881 = getelementptr inbounds i8, ptr %argument625, i64 1163264
  %v882 = getelementptr inbounds i8, ptr %argument625, i64 2162688
  %v883 = getelementptr inbounds i8, ptr %argument625, i64 966656
  %v884 = getelementptr inbounds i8, ptr %argument625, i64 753664
  %v885 = getelementptr inbounds i8, ptr %argument625, i64 2965504
  %v886 = getelementptr inbounds i8, ptr %argument625, i64 278528
  %v887 = getelementptr inbounds i8, ptr %argument625, i64 1638400
  %v888 = getelementptr inbounds i8, ptr %argument625, i64 2523136
  %v889 = getelementptr inbounds i8, ptr %argument625, i64 458752
  %v890 = getelementptr inbounds i8, ptr %argument625, i64 622592
  %v891 = getelementptr inbounds i8, ptr %argument625, i64 573440
  call void @multiply_tanh_subtract_minimum_fusion(ptr %v880, ptr %v881, ptr %v882, ptr %v883, ptr %v884, ptr %v885, ptr %v886, ptr %v887, ptr %v888, ptr %v889, ptr %v890, ptr %v891)
  %v892 = getelementptr inbounds i8, ptr %argument625, i64 1835008
  %v893 = getelementptr inbounds i8, ptr %argument625, i64 1589248
  %v894 = getelementptr inbounds i8, ptr %argument625, i64 2965504
  %v895 = getelementptr inbounds i8, ptr %argument625, i64 4636672
  %v896 = getelementptr inbounds i8, ptr %argument625, i64 3407872
  %v897 = getelementptr inbounds i8, ptr %argument625, i64 3424256
  %v898 = getelementptr inbounds i8, ptr %argument625, i64 2686976
  %v899 = getelementptr inbounds i8, ptr %argument625, i64 1130496
  %v900 = getelementptr inbounds i8, ptr %argument625, i64 2785280
  %v901 = getelementptr inbounds i8, ptr %argument625, i64 1572864
  %v902 = getelementptr inbounds i8, ptr %argument625, i64 3735552
  %v903 = getelementptr inbounds i8, ptr %argument625, i64 3751936
  %v904 = getelementptr inbounds i8, ptr %argument625, i64 3768320
  %v905 = getelementptr inbounds i8, ptr %argument625, i64 3784704
  %v906 = getelementptr inbounds i8, ptr %argument625, i64 3801088
  %v907 = getelementptr inbounds i8, ptr %argument625, i64 3817472
  call void @multiply_tanh_subtract_add_fusion(ptr %v892, ptr %v893, ptr %v894, ptr %v895, ptr %v896, ptr %v897, ptr %v898, ptr %v899, ptr %v900, ptr %v901, ptr %v902, ptr %v903, ptr %v904, ptr %v905, ptr %v906, ptr %v907)
  %v908 = getelementptr inbounds i8, ptr %argument625, i64 2392064
  %v909 = getelementptr inbounds i8, ptr %argument625, i64 2654208
  %v910 = getelementptr inbounds i8, ptr %argument625, i64 786432
  %v911 = getelementptr inbounds i8, ptr %argument625, i64 1916928
  %v912 = getelementptr inbounds i8, ptr %argument625, i64 737280
  %v913 = getelementptr inbounds i8, ptr %argument625, i64 2244608
  %v914 = getelementptr inbounds i8, ptr %argument625, i64 2211840
  %v915 = getelementptr inbounds i8, ptr %argument625, i64 2457600
  %v916 = getelementptr inbounds i8, ptr %argument625, i64 131072
  %v917 = getelementptr inbounds i8, ptr %argument625, i64 3817472
  %v918 = getelementptr inbounds i8, ptr %argument625, i64 3833856
  call void @subtract_add_multiply_minimum_fusion(ptr %v908, ptr %v909, ptr %v910, ptr %v911, ptr %v912, ptr %v913, ptr %v914, ptr %v915, ptr %v916, ptr %v917, ptr %v918)
  %v919 = getelementptr inbounds i8, ptr %argument625, i64 1425408
  %v920 = getelementptr inbounds i8, ptr %argument625, i64 2441216
  %v921 = getelementptr inbounds i8, ptr %argument625, i64 3014656
  %v922 = getelementptr inbounds i8, ptr %argument625, i64 3194880
  %v923 = getelementptr inbounds i8, ptr %argument625, i64 2457600
  %v924 = getelementptr inbounds i8, ptr %argument625, i64 2113536
  %v925 = getelementptr inbounds i8, ptr %argument625, i64 2080768
  %v926 = getelementptr inbounds i8, ptr %argument625, i64 835584
  %v927 = getelementptr inbounds i8, ptr %argument625, i64 5032448
  %v928 = getelementptr inbounds i8, ptr %argument625, i64 3850240
  %v929 = getelementptr inbounds i8, ptr %argument625, i64 3866624
  %v930 = getelementptr inbounds i8, ptr %argument625, i64 3883008
  %v931 = getelementptr inbounds i8, ptr %argument625, i64 3899392
  %v932 = getelementptr inbounds i8, ptr %argument625, i64 3915776
  call void @tanh_add_subtract_minimum_fusion(ptr %v919, ptr %v920, ptr %v921, ptr %v922, ptr %v923, ptr %v924, ptr %v925, ptr %v926, ptr %v927, ptr %v928, ptr %v929, ptr %v930, ptr %v931, ptr %v932)
  %v933 = getelementptr inbounds i8, ptr %argument625, i64 393216
  %v934 = getelementptr inbounds i8, ptr %argument625, i64 3981312
  %v935 = getelementptr inbounds i8, ptr %argument625, i64 3014656
  %v936 = getelementptr inbounds i8, ptr %argument625, i64 3358720
  %v937 = getelementptr inbounds i8, ptr %argument625, i64 2686976
  %v938 = getelementptr inbounds i8, ptr %argument625, i64 2998272
  %v939 = getelementptr inbounds i8, ptr %argument625, i64 802816
  %v940 = getelementptr inbounds i8, ptr %argument625, i64 1851392
  %v941 = getelementptr inbounds i8, ptr %argument625, i64 1769472
  %v942 = getelementptr inbounds i8, ptr %argument625, i64 1114112
  %v943 = getelementptr inbounds i8, ptr %argument625, i64 3866624
  %v944 = getelementptr inbounds i8, ptr %argument625, i64 1310720
  %v945 = getelementptr inbounds i8, ptr %argument625, i64 3932160
  %v946 = getelementptr inbounds i8, ptr %argument625, i64 3948544
  %v947 = getelementptr inbounds i8, ptr %argument625, i64 3964928
  call void @multiply_tanh_maximum_minimum_fusion(ptr %v933, ptr %v934, ptr %v935, ptr %v936, ptr %v937, ptr %v938, ptr %v939, ptr %v940, ptr %v941, ptr %v942, ptr %v943, ptr %v944, ptr %v945, ptr %v946, ptr %v947)
  %v948 = getelementptr inbounds i8, ptr %argument625, i64 1867776
  %v949 = getelementptr inbounds i8, ptr %argument625, i64 1900544
  %v950 = getelementptr inbounds i8, ptr %argument625, i64 1294336
  %v951 = getelementptr inbounds i8, ptr %argument625, i64 1376256
  %v952 = getelementptr inbounds i8, ptr %argument625, i64 2883584
  %v953 = getelementptr inbounds i8, ptr %argument625, i64 3948544
  %v954 = getelementptr inbounds i8, ptr %argument625, i64 409600
  %v955 = getelementptr inbounds i8, ptr %argument625, i64 3276800
  %v956 = getelementptr inbounds i8, ptr %argument625, i64 1327104
  %v957 = getelementptr inbounds i8, ptr %argument625, i64 3981312
  %v958 = getelementptr inbounds i8, ptr %argument625, i64 3997696
  call void @multiply_add_tanh_subtract_fusion(ptr %v948, ptr %v949, ptr %v950, ptr %v951, ptr %v952, ptr %v953, ptr %v954, ptr %v955, ptr %v956, ptr %v957, ptr %v958)
  %v959 = getelementptr inbounds i8, ptr %argument625, i64 212992
  %v960 = getelementptr inbounds i8, ptr %argument625, i64 704512
  %v961 = getelementptr inbounds i8, ptr %argument625, i64 1458176
  %v962 = getelementptr inbounds i8, ptr %argument625, i64 1900544
  %v963 = getelementptr inbounds i8, ptr %argument625, i64 1589248
  %v964 = getelementptr inbounds i8, ptr %argument625, i64 4014080
  %v965 = getelementptr inbounds i8, ptr %argument625, i64 4030464
  %v966 = getelementptr inbounds i8, ptr %argument625, i64 4046848
  %v967 = getelementptr inbounds i8, ptr %argument625, i64 4063232
  call void @multiply_subtract_tanh_minimum_fusion(ptr %v959, ptr %v960, ptr %v961, ptr %v962, ptr %v963, ptr %v964, ptr %v965, ptr %v966, ptr %v967)
  %v968 = getelementptr inbounds i8, ptr %argument625, i64 1359872
  %v969 = getelementptr inbounds i8, ptr %argument625, i64 2293760
  %v970 = getelementptr inbounds i8, ptr %argument625, i64 3899392
  %v971 = getelementptr inbounds i8, ptr %argument625, i64 458752
  %v972 = getelementptr inbounds i8, ptr %argument625, i64 1228800
  %v973 = getelementptr inbounds i8, ptr %argument625, i64 3342336
  %v974 = getelementptr inbounds i8, ptr %argument625, i64 2834432
  %v975 = getelementptr inbounds i8, ptr %argument625, i64 1458176
  %v976 = getelementptr inbounds i8, ptr %argument625, i64 3768320
  %v977 = getelementptr inbounds i8, ptr %argument625, i64 4079616
  %v978 = getelementptr inbounds i8, ptr %argument625, i64 4096000
  %v979 = getelementptr inbounds i8, ptr %argument625, i64 4112384
  %v980 = getelementptr inbounds i8, ptr %argument625, i64 4128768
  %v981 = getelementptr inbounds i8, ptr %argument625, i64 4145152
  call void @minimum_multiply_subtract_tanh_fusion(ptr %v968, ptr %v969, ptr %v970, ptr %v971, ptr %v972, ptr %v973, ptr %v974, ptr %v975, ptr %v976, ptr %v977, ptr %v978, ptr %v979, ptr %v980, ptr %v981)
  %v982 = getelementptr inbounds i8, ptr %argument625, i64 1212416
  %v983 = getelementptr inbounds i8, ptr %argument625, i64 1261568
  %v984 = getelementptr inbounds i8, ptr %argument625, i64 1949696
  %v985 = getelementptr inbounds i8, ptr %argument625, i64 3063808
  %v986 = getelementptr inbounds i8, ptr %argument625, i64 1720320
  %v987 = getelementptr inbounds i8, ptr %argument625, i64 737280
  %v988 = getelementptr inbounds i8, ptr %argument625, i64 5030656
  %v989 = getelementptr inbounds i8, ptr %argument625, i64 49152
  %v990 = getelementptr inbounds i8, ptr %argument625, i64 3948544
  %v991 = getelementptr inbounds i8, ptr %argument625, i64 98304
  %v992 = getelementptr inbounds i8, ptr %argument625, i64 4161536
  %v993 = getelementptr inbounds i8, ptr %argument625, i64 4177920
  %v994 = getelementptr inbounds i8, ptr %argument625, i64 4194304
  %v995 = getelementptr inbounds i8, ptr %argument625, i64 4210688
  %v996 = getelementptr inbounds i8, ptr %argument625, i64 4227072
  %v997 = getelementptr inbounds i8, ptr %argument625, i64 4243456
  call void @multiply_minimum_tanh_subtract_fusion_1(ptr %v982, ptr %v983, ptr %v984, ptr %v985, ptr %v986, ptr %v987, ptr %v988, ptr %v989, ptr %v990, ptr %v991, ptr %v992, ptr %v993, ptr %v994, ptr %v995, ptr %v996, ptr %v997)
  %v998 = getelementptr inbounds i8, ptr %argument625, i64 507904
  %v999 = getelementptr inbounds i8, ptr %argument625, i64 1097728
  %v1000 = getelementptr inbounds i8, ptr %argument625, i64 3162112
  %v1001 = getelementptr inbounds i8, ptr %argument625, i64 3096576
  %v1002 = getelementptr inbounds i8, ptr %argument625, i64 1179648
  %v1003 = getelementptr inbounds i8, ptr %argument625, i64 2408448
  %v1004 = getelementptr inbounds i8, ptr %argument625, i64 2834432
  %v1005 = getelementptr inbounds i8, ptr %argument625, i64 4243456
  %v1006 = getelementptr inbounds i8, ptr %argument625, i64 5032960
  %v1007 = getelementptr inbounds i8, ptr %argument625, i64 2637824
  %v1008 = getelementptr inbounds i8, ptr %argument625, i64 4259840
  %v1009 = getelementptr inbounds i8, ptr %argument625, i64 4276224
  %v1010 = getelementptr inbounds i8, ptr %argument625, i64 4292608
  %v1011 = getelementptr inbounds i8, ptr %argument625, i64 4308992
  %v1012 = getelementptr inbounds i8, ptr %argument625, i64 4325376
  %v1013 = getelementptr inbounds i8, ptr %argument625, i64 4341760
  %v1014 = getelementptr inbounds i8, ptr %argument625, i64 4358144
  call void @add_subtract_tanh_multiply_fusion(ptr %v998, ptr %v999, ptr %v1000, ptr %v1001, ptr %v1002, ptr %v1003, ptr %v1004, ptr %v1005, ptr %v1006, ptr %v1007, ptr %v1008, ptr %v1009, ptr %v1010, ptr %v1011, ptr %v1012, ptr %v1013, ptr %v1014)
  %v1015 = getelementptr inbounds i8, ptr %argument625, i64 16384
  %v1016 = getelementptr inbounds i8, ptr %argument625, i64 2703360
  %v1017 = getelementptr inbounds i8, ptr %argument625, i64 3244032
  %v1018 = getelementptr inbounds i8, ptr %argument625, i64 3686400
  %v1019 = getelementptr inbounds i8, ptr %argument625, i64 2981888
  %v1020 = getelementptr inbounds i8, ptr %argument625, i64 606208
  %v1021 = getelementptr inbounds i8, ptr %argument625, i64 4407296
  %v1022 = getelementptr inbounds i8, ptr %argument625, i64 5031680
  %v1023 = getelementptr inbounds i8, ptr %argument625, i64 5031936
  %v1024 = getelementptr inbounds i8, ptr %argument625, i64 4276224
  %v1025 = getelementptr inbounds i8, ptr %argument625, i64 131072
  %v1026 = getelementptr inbounds i8, ptr %argument625, i64 2506752
  %v1027 = getelementptr inbounds i8, ptr %argument625, i64 4374528
  %v1028 = getelementptr inbounds i8, ptr %argument625, i64 4390912
  call void @multiply_maximum_tanh_add_fusion(ptr %v1015, ptr %v1016, ptr %v1017, ptr %v1018, ptr %v1019, ptr %v1020, ptr %v1021, ptr %v1022, ptr %v1023, ptr %v1024, ptr %v1025, ptr %v1026, ptr %v1027, ptr %v1028)
  %v1029 = getelementptr inbounds i8, ptr %argument625, i64 2818048
  %v1030 = getelementptr inbounds i8, ptr %argument625, i64 2408448
  %v1031 = getelementptr inbounds i8, ptr %argument625, i64 2424832
  %v1032 = getelementptr inbounds i8, ptr %argument625, i64 933888
  %v1033 = getelementptr inbounds i8, ptr %argument625, i64 3047424
  %v1034 = getelementptr inbounds i8, ptr %argument625, i64 3932160
  %v1035 = getelementptr inbounds i8, ptr %argument625, i64 851968
  %v1036 = getelementptr inbounds i8, ptr %argument625, i64 1572864
  %v1037 = getelementptr inbounds i8, ptr %argument625, i64 4407296
  %v1038 = getelementptr inbounds i8, ptr %argument625, i64 4423680
  %v1039 = getelementptr inbounds i8, ptr %argument625, i64 4440064
  %v1040 = getelementptr inbounds i8, ptr %argument625, i64 4456448
  %v1041 = getelementptr inbounds i8, ptr %argument625, i64 4472832
  %v1042 = getelementptr inbounds i8, ptr %argument625, i64 4489216
  call void @tanh_maximum_add_multiply_fusion(ptr %v1029, ptr %v1030, ptr %v1031, ptr %v1032, ptr %v1033, ptr %v1034, ptr %argument625, ptr %v1035, ptr %v1036, ptr %v1037, ptr %v1038, ptr %v1039, ptr %v1040, ptr %v1041, ptr %v1042)
  %v1043 = getelementptr inbounds i8, ptr %argument625, i64 2572288
  %v1044 = getelementptr inbounds i8, ptr %argument625, i64 1277952
  %v1045 = getelementptr inbounds i8, ptr %argument625, i64 950272
  %v1046 = getelementptr inbounds i8, ptr %argument625, i64 2260992
  %v1047 = getelementptr inbounds i8, ptr %argument625, i64 2031616
  %v1048 = getelementptr inbounds i8, ptr %argument625, i64 1048576
  %v1049 = getelementptr inbounds i8, ptr %argument625, i64 999424
  %v1050 = getelementptr inbounds i8, ptr %argument625, i64 2637824
  %v1051 = getelementptr inbounds i8, ptr %argument625, i64 3309568
  %v1052 = getelementptr inbounds i8, ptr %argument625, i64 933888
  %v1053 = getelementptr inbounds i8, ptr %argument625, i64 4505600
  %v1054 = getelementptr inbounds i8, ptr %argument625, i64 4521984
  %v1055 = getelementptr inbounds i8, ptr %argument625, i64 4538368
  call void @multiply_tanh_add_minimum_fusion(ptr %v1043, ptr %v1044, ptr %v1045, ptr %v1046, ptr %v1047, ptr %v1048, ptr %v1049, ptr %v1050, ptr %v1051, ptr %v1052, ptr %v1053, ptr %v1054, ptr %v1055)
  %v1056 = getelementptr inbounds i8, ptr %argument625, i64 589824
  %v1057 = getelementptr inbounds i8, ptr %argument625, i64 917504
  %v1058 = getelementptr inbounds i8, ptr %argument625, i64 3293184
  %v1059 = getelementptr inbounds i8, ptr %argument625, i64 491520
  %v1060 = getelementptr inbounds i8, ptr %argument625, i64 3112960
  %v1061 = getelementptr inbounds i8, ptr %argument625, i64 3571712
  %v1062 = getelementptr inbounds i8, ptr %argument625, i64 16384
  %v1063 = getelementptr inbounds i8, ptr %argument625, i64 1015808
  %v1064 = getelementptr inbounds i8, ptr %argument625, i64 2965504
  %v1065 = getelementptr inbounds i8, ptr %argument625, i64 4636672
  %v1066 = getelementptr inbounds i8, ptr %argument625, i64 868352
  %v1067 = getelementptr inbounds i8, ptr %argument625, i64 2310144
  %v1068 = getelementptr inbounds i8, ptr %argument625, i64 4554752
  %v1069 = getelementptr inbounds i8, ptr %argument625, i64 4571136
  %v1070 = getelementptr inbounds i8, ptr %argument625, i64 4587520
  %v1071 = getelementptr inbounds i8, ptr %argument625, i64 4603904
  %v1072 = getelementptr inbounds i8, ptr %argument625, i64 4620288
  call void @tanh_maximum_add_subtract_fusion(ptr %v1056, ptr %v1057, ptr %v1058, ptr %v1059, ptr %v1060, ptr %v1061, ptr %v1062, ptr %v1063, ptr %v1064, ptr %v1065, ptr %v1066, ptr %v1067, ptr %v1068, ptr %v1069, ptr %v1070, ptr %v1071, ptr %v1072)
  %v1073 = getelementptr inbounds i8, ptr %argument625, i64 3440640
  %v1074 = getelementptr inbounds i8, ptr %argument625, i64 4620288
  %v1075 = getelementptr inbounds i8, ptr %argument625, i64 1277952
  %v1076 = getelementptr inbounds i8, ptr %argument625, i64 3473408
  %v1077 = getelementptr inbounds i8, ptr %argument625, i64 3407872
  %v1078 = getelementptr inbounds i8, ptr %argument625, i64 3915776
  %v1079 = getelementptr inbounds i8, ptr %argument625, i64 3964928
  %v1080 = getelementptr inbounds i8, ptr %argument625, i64 2981888
  %v1081 = getelementptr inbounds i8, ptr %argument625, i64 2179072
  %v1082 = getelementptr inbounds i8, ptr %argument625, i64 4685824
  %v1083 = getelementptr inbounds i8, ptr %argument625, i64 4538368
  %v1084 = getelementptr inbounds i8, ptr %argument625, i64 2719744
  %v1085 = getelementptr inbounds i8, ptr %argument625, i64 4636672
  %v1086 = getelementptr inbounds i8, ptr %argument625, i64 4653056
  %v1087 = getelementptr inbounds i8, ptr %argument625, i64 4669440
  call void @multiply_maximum_minimum_fusion_7(ptr %v1073, ptr %v1074, ptr %v1075, ptr %v1076, ptr %v1077, ptr %v1078, ptr %v1079, ptr %v1080, ptr %v1081, ptr %v1082, ptr %v1083, ptr %v1084, ptr %v1085, ptr %v1086, ptr %v1087)
  %v1088 = getelementptr inbounds i8, ptr %argument625, i64 4636672
  %v1089 = getelementptr inbounds i8, ptr %argument625, i64 4685824
  call void @reduce_fusion_99(ptr %v1088, ptr %v1089)
  %v1090 = getelementptr inbounds i8, ptr %argument625, i64 4685824
  call void @wrapped_tanh_540(ptr %v1090)
  %v1091 = getelementptr inbounds i8, ptr %argument625, i64 1916928
  %v1092 = getelementptr inbounds i8, ptr %argument625, i64 3325952
  %v1093 = getelementptr inbounds i8, ptr %argument625, i64 966656
  %v1094 = getelementptr inbounds i8, ptr %argument625, i64 3178496
  %v1095 = getelementptr inbounds i8, ptr %argument625, i64 3489792
  %v1096 = getelementptr inbounds i8, ptr %argument625, i64 2719744
  %v1097 = getelementptr inbounds i8, ptr %argument625, i64 311296
  %v1098 = getelementptr inbounds i8, ptr %argument625, i64 2015232
  %v1099 = getelementptr inbounds i8, ptr %argument625, i64 2457600
  %v1100 = getelementptr inbounds i8, ptr %argument625, i64 245760
  %v1101 = getelementptr inbounds i8, ptr %argument625, i64 2916352
  %v1102 = getelementptr inbounds i8, ptr %argument625, i64 4685824
  %v1103 = getelementptr inbounds i8, ptr %argument625, i64 393216
  call void @add_maximum_multiply_fusion(ptr %v1091, ptr %v1092, ptr %v1093, ptr %v1094, ptr %v1095, ptr %v1096, ptr %v1097, ptr %v1098, ptr %v1099, ptr %v1100, ptr %v1101, ptr %v1102, ptr %v1103)
  %v1104 = getelementptr inbounds i8, ptr %argument625, i64 5030912
  call void @wrapped_tanh_540(ptr %v1104)
  %v1105 = getelementptr inbounds i8, ptr %argument625, i64 344064
  %v1106 = getelementptr inbounds i8, ptr %argument625, i64 5033216
  call void @reduce_fusion_99(ptr %v1105, ptr %v1106)
  %v1107 = getelementptr inbounds i8, ptr %argument625, i64 5033216
  call void @wrapped_tanh_540(ptr %v1107)
  %v1108 = getelementptr inbounds i8, ptr %argument625, i64 3129344
  %v1109 = getelementptr inbounds i8, ptr %argument625, i64 3375104
  %v1110 = getelementptr inbounds i8, ptr %argument625, i64 4636672
  call void @d73(ptr %v1108, ptr %v1109, ptr %v1110)
  %v1111 = getelementptr inbounds i8, ptr %argument625, i64 4112384
  %v1112 = getelementptr inbounds i8, ptr %argument625, i64 5033472
  call void @multiply_reduce_fusion_14(ptr %v1111, ptr %v1112)
  %v1113 = getelementptr inbounds i8, ptr %argument625, i64 5033472
  call void @wrapped_tanh_540(ptr %v1113)
  %v1114 = getelementptr inbounds i8, ptr %argument625, i64 3653632
  %v1115 = getelementptr inbounds i8, ptr %argument625, i64 3358720
  %v1116 = getelementptr inbounds i8, ptr %argument625, i64 5033472
  call void @tanh_multiply_maximum_fusion_1(ptr %v1114, ptr %v1115, ptr %v1116)
  %v1117 = getelementptr inbounds i8, ptr %argument625, i64 3932160
  %v1118 = getelementptr inbounds i8, ptr %argument625, i64 4276224
  %v1119 = getelementptr inbounds i8, ptr %argument625, i64 3375104
  call void @d73(ptr %v1117, ptr %v1118, ptr %v1119)
  %v1120 = getelementptr inbounds i8, ptr %argument625, i64 3375104
  call void @multiply_tanh_fusion_124(ptr %v1120)
  %v1121 = getelementptr inbounds i8, ptr %argument625, i64 966656
  %v1122 = getelementptr inbounds i8, ptr %argument625, i64 5033728
  call void @reduce_fusion_110(ptr %v1121, ptr %v1122)
  %v1123 = getelementptr inbounds i8, ptr %argument625, i64 5033728
  call void @wrapped_tanh_540(ptr %v1123)
  %v1124 = getelementptr inbounds i8, ptr %argument625, i64 229376
  %v1125 = getelementptr inbounds i8, ptr %argument625, i64 4685824
  call void @d73(ptr %v1124, ptr %argument625, ptr %v1125)
  %v1126 = getelementptr inbounds i8, ptr %argument625, i64 1376256
  %v1127 = getelementptr inbounds i8, ptr %argument625, i64 606208
  %v1128 = getelementptr inbounds i8, ptr %argument625, i64 5031936
  %v1129 = getelementptr inbounds i8, ptr %argument625, i64 3719168
  %v1130 = getelementptr inbounds i8, ptr %argument625, i64 212992
  %v1131 = getelementptr inbounds i8, ptr %argument625, i64 1671168
  %v1132 = getelementptr inbounds i8, ptr %argument625, i64 65536
  %v1133 = getelementptr inbounds i8, ptr %argument625, i64 425984
  %v1134 = getelementptr inbounds i8, ptr %argument625, i64 3358720
  %v1135 = getelementptr inbounds i8, ptr %argument625, i64 3375104
  %v1136 = getelementptr inbounds i8, ptr %argument625, i64 4702208
  %v1137 = getelementptr inbounds i8, ptr %argument625, i64 4718592
  %v1138 = getelementptr inbounds i8, ptr %argument625, i64 4734976
  %v1139 = getelementptr inbounds i8, ptr %argument625, i64 4751360
  %v1140 = getelementptr inbounds i8, ptr %argument625, i64 4767744
  call void @tanh_multiply_minimum_fusion(ptr %v1126, ptr %v1127, ptr %v1128, ptr %v1129, ptr %v1130, ptr %v1131, ptr %v1132, ptr %v1133, ptr %v1134, ptr %v1135, ptr %v1136, ptr %v1137, ptr %v1138, ptr %v1139, ptr %v1140)
  %v1141 = getelementptr inbounds i8, ptr %argument625, i64 884736
  %v1142 = getelementptr inbounds i8, ptr %argument625, i64 1146880
  %v1143 = getelementptr inbounds i8, ptr %argument625, i64 2064384
  %v1144 = getelementptr inbounds i8, ptr %argument625, i64 2375680
  %v1145 = getelementptr inbounds i8, ptr %argument625, i64 3801088
  %v1146 = getelementptr inbounds i8, ptr %argument625, i64 5033728
  %v1147 = getelementptr inbounds i8, ptr %argument625, i64 622592
  %v1148 = getelementptr inbounds i8, ptr %argument625, i64 3424256
  %v1149 = getelementptr inbounds i8, ptr %argument625, i64 4685824
  %v1150 = getelementptr inbounds i8, ptr %argument625, i64 5033216
  %v1151 = getelementptr inbounds i8, ptr %argument625, i64 212992
  %v1152 = getelementptr inbounds i8, ptr %argument625, i64 1671168
  %v1153 = getelementptr inbounds i8, ptr %argument625, i64 4784128
  call void @multiply_add_minimum_tanh_fusion(ptr %v1141, ptr %v1142, ptr %v1143, ptr %v1144, ptr %v1145, ptr %v1146, ptr %v1147, ptr %v1148, ptr %v1149, ptr %v1150, ptr %v1151, ptr %v1152, ptr %v1153)
  %v1154 = getelementptr inbounds i8, ptr %argument625, i64 2129920
  %v1155 = getelementptr inbounds i8, ptr %argument625, i64 3211264
  %v1156 = getelementptr inbounds i8, ptr %argument625, i64 3964928
  %v1157 = getelementptr inbounds i8, ptr %argument625, i64 2752512
  %v1158 = getelementptr inbounds i8, ptr %argument625, i64 3784704
  %v1159 = getelementptr inbounds i8, ptr %argument625, i64 1507328
  %v1160 = getelementptr inbounds i8, ptr %argument625, i64 3981312
  %v1161 = getelementptr inbounds i8, ptr %argument625, i64 4292608
  %v1162 = getelementptr inbounds i8, ptr %argument625, i64 2375680
  %v1163 = getelementptr inbounds i8, ptr %argument625, i64 4800512
  %v1164 = getelementptr inbounds i8, ptr %argument625, i64 4816896
  %v1165 = getelementptr inbounds i8, ptr %argument625, i64 4833280
  %v1166 = getelementptr inbounds i8, ptr %argument625, i64 4849664
  %v1167 = getelementptr inbounds i8, ptr %argument625, i64 4866048
  %v1168 = getelementptr inbounds i8, ptr %argument625, i64 4882432
  call void @minimum_tanh_multiply_subtract_fusion(ptr %v1154, ptr %v1155, ptr %v1156, ptr %v1157, ptr %v1158, ptr %v1159, ptr %v1160, ptr %v1161, ptr %v1162, ptr %v1163, ptr %v1164, ptr %v1165, ptr %v1166, ptr %v1167, ptr %v1168)
  %v1169 = getelementptr inbounds i8, ptr %argument625, i64 114688
  %v1170 = getelementptr inbounds i8, ptr %argument625, i64 3964928
  %v1171 = getelementptr inbounds i8, ptr %argument625, i64 5033728
  %v1172 = getelementptr inbounds i8, ptr %argument625, i64 802816
  %v1173 = getelementptr inbounds i8, ptr %argument625, i64 1425408
  %v1174 = getelementptr inbounds i8, ptr %argument625, i64 2834432
  %v1175 = getelementptr inbounds i8, ptr %argument625, i64 1949696
  %v1176 = getelementptr inbounds i8, ptr %argument625, i64 606208
  %v1177 = getelementptr inbounds i8, ptr %argument625, i64 4898816
  %v1178 = getelementptr inbounds i8, ptr %argument625, i64 4915200
  %v1179 = getelementptr inbounds i8, ptr %argument625, i64 4931584
  %v1180 = getelementptr inbounds i8, ptr %argument625, i64 4947968
  %v1181 = getelementptr inbounds i8, ptr %argument625, i64 4964352
  %v1182 = getelementptr inbounds i8, ptr %argument625, i64 4980736
  %v1183 = getelementptr inbounds i8, ptr %argument625, i64 4997120
  %v1184 = getelementptr inbounds i8, ptr %argument625, i64 5013504
  call void @tanh_subtract_multiply_add_fusion_1(ptr %v1169, ptr %v1170, ptr %v1171, ptr %v1172, ptr %v1173, ptr %v1174, ptr %v1175, ptr %v1176, ptr %v1177, ptr %v1178, ptr %v1179, ptr %v1180, ptr %v1181, ptr %v1182, ptr %v1183, ptr %v1184)
  %v1185 = getelementptr inbounds i8, ptr %argument625, i64 2949120
  %v1186 = getelementptr inbounds i8, ptr %argument625, i64 2719744
  %v1187 = getelementptr inbounds i8, ptr %argument625, i64 884736
  %v1188 = getelementptr inbounds i8, ptr %argument625, i64 3309568
  %v1189 = getelementptr inbounds i8, ptr %argument625, i64 720896
  %v1190 = getelementptr inbounds i8, ptr %argument625, i64 1622016
  %v1191 = getelementptr inbounds i8, ptr %argument625, i64 294912
  %v1192 = getelementptr inbounds i8, ptr %argument625, i64 4636672
  %v1193 = getelementptr inbounds i8, ptr %argument625, i64 1425408
  %v1194 = getelementptr inbounds i8, ptr %argument625, i64 3325952
  %v1195 = getelementptr inbounds i8, ptr %argument625, i64 3145728
  %v1196 = getelementptr inbounds i8, ptr %argument625, i64 2342912
  %v1197 = getelementptr inbounds i8, ptr %argument625, i64 5030912
  %v1198 = getelementptr inbounds i8, ptr %argument625, i64 524288
  %v1199 = getelementptr inbounds i8, ptr %argument625, i64 753664
  %v1200 = getelementptr inbounds i8, ptr %argument625, i64 1081344
  %v1201 = getelementptr inbounds i8, ptr %argument625, i64 1327104
  %v1202 = getelementptr inbounds i8, ptr %argument625, i64 3162112
  %v1203 = getelementptr inbounds i8, ptr %argument625, i64 2998272
  %v1204 = getelementptr inbounds i8, ptr %argument625, i64 2736128
  %v1205 = getelementptr inbounds i8, ptr %argument625, i64 1245184
  %v1206 = getelementptr inbounds i8, ptr %argument625, i64 360448
  %v1207 = getelementptr inbounds i8, ptr %argument625, i64 1982464
  %v1208 = getelementptr inbounds i8, ptr %argument625, i64 1916928
  %v1209 = getelementptr inbounds i8, ptr %argument625, i64 1753088
  %v1210 = getelementptr inbounds i8, ptr %argument625, i64 1474560
  %v1211 = getelementptr inbounds i8, ptr %argument625, i64 114688
  %v1212 = getelementptr inbounds i8, ptr %argument625, i64 2899968
  %v1213 = getelementptr inbounds i8, ptr %argument625, i64 671744
  %v1214 = getelementptr inbounds i8, ptr %argument625, i64 1392640
  %v1215 = getelementptr inbounds i8, ptr %argument625, i64 5031936
  %v1216 = getelementptr inbounds i8, ptr %argument625, i64 81920
  %v1217 = getelementptr inbounds i8, ptr %argument625, i64 3014656
  %v1218 = getelementptr inbounds i8, ptr %argument625, i64 1097728
  %v1219 = getelementptr inbounds i8, ptr %argument625, i64 655360
  %v1220 = getelementptr inbounds i8, ptr %argument625, i64 1835008
  %v1221 = getelementptr inbounds i8, ptr %argument625, i64 917504
  %v1222 = getelementptr inbounds i8, ptr %argument625, i64 5031168
  %v1223 = getelementptr inbounds i8, ptr %argument625, i64 1998848
  %v1224 = getelementptr inbounds i8, ptr %argument625, i64 3178496
  %v1225 = getelementptr inbounds i8, ptr %argument625, i64 3457024
  %v1226 = getelementptr inbounds i8, ptr %argument625, i64 3194880
  %v1227 = getelementptr inbounds i8, ptr %argument625, i64 2588672
  %v1228 = getelementptr inbounds i8, ptr %argument625, i64 1130496
  %v1229 = getelementptr inbounds i8, ptr %argument625, i64 868352
  %v1230 = getelementptr inbounds i8, ptr %argument625, i64 3031040
  %v1231 = getelementptr inbounds i8, ptr %argument625, i64 2637824
  %v1232 = getelementptr inbounds i8, ptr %argument625, i64 704512
  %v1233 = getelementptr inbounds i8, ptr %argument625, i64 999424
  %v1234 = getelementptr inbounds i8, ptr %argument625, i64 327680
  %v1235 = getelementptr inbounds i8, ptr %argument625, i64 3473408
  %v1236 = getelementptr inbounds i8, ptr %argument625, i64 262144
  %v1237 = getelementptr inbounds i8, ptr %argument625, i64 1736704
  %v1238 = getelementptr inbounds i8, ptr %argument625, i64 1654784
  %v1239 = getelementptr inbounds i8, ptr %argument625, i64 5029888
  %v1240 = getelementptr inbounds i8, ptr %argument625, i64 688128
  %v1241 = getelementptr inbounds i8, ptr %argument625, i64 5030144
  %v1243 = getelementptr inbounds ptr, ptr %slot1242, i64 0
  store ptr %v1185, ptr %v1243, align 8
  %v1244 = getelementptr inbounds ptr, ptr %slot1242, i64 1
  store ptr %v1186, ptr %v1244, align 8
  %v1245 = getelementptr inbounds ptr, ptr %slot1242, i64 2
  store ptr %v1187, ptr %v1245, align 8
  %v1246 = getelementptr inbounds ptr, ptr %slot1242, i64 3
  store ptr %v1188, ptr %v1246, align 8
  %v1247 = getelementptr inbounds ptr, ptr %slot1242, i64 4
  store ptr %v1189, ptr %v1247, align 8
  %v1248 = getelementptr inbounds ptr, ptr %slot1242, i64 5
  store ptr %v1190, ptr %v1248, align 8
  %v1249 = getelementptr inbounds ptr, ptr %slot1242, i64 6
  store ptr %v1191, ptr %v1249, align 8
  %v1250 = getelementptr inbounds ptr, ptr %slot1242, i64 7
  store ptr %v1192, ptr %v1250, align 8
  %v1251 = getelementptr inbounds ptr, ptr %slot1242, i64 8
  store ptr %v1193, ptr %v1251, align 8
  %v1252 = getelementptr inbounds ptr, ptr %slot1242, i64 9
  store ptr %v1194, ptr %v1252, align 8
  %v1253 = getelementptr inbounds ptr, ptr %slot1242, i64 10
  store ptr %v1195, ptr %v1253, align 8
  %v1254 = getelementptr inbounds ptr, ptr %slot1242, i64 11
  store ptr %v1196, ptr %v1254, align 8
  %v1255 = getelementptr inbounds ptr, ptr %slot1242, i64 12
  store ptr %v1197, ptr %v1255, align 8
  %v1256 = getelementptr inbounds ptr, ptr %slot1242, i64 13
  store ptr %v1198, ptr %v1256, align 8
  %v1257 = getelementptr inbounds ptr, ptr %slot1242, i64 14
  store ptr %v1199, ptr %v1257, align 8
  %v1258 = getelementptr inbounds ptr, ptr %slot1242, i64 15
  store ptr %v1200, ptr %v1258, align 8
  %v1259 = getelementptr inbounds ptr, ptr %slot1242, i64 16
  store ptr %v1201, ptr %v1259, align 8
  %v1260 = getelementptr inbounds ptr, ptr %slot1242, i64 17
  store ptr %v1202, ptr %v1260, align 8
  %v1261 = getelementptr inbounds ptr, ptr %slot1242, i64 18
  store ptr %v1203, ptr %v1261, align 8
  %v1262 = getelementptr inbounds ptr, ptr %slot1242, i64 19
  store ptr %v1204, ptr %v1262, align 8
  %v1263 = getelementptr inbounds ptr, ptr %slot1242, i64 20
  store ptr %v1205, ptr %v1263, align 8
  %v1264 = getelementptr inbounds ptr, ptr %slot1242, i64 21
  store ptr %v1206, ptr %v1264, align 8
  %v1265 = getelementptr inbounds ptr, ptr %slot1242, i64 22
  store ptr %argument625, ptr %v1265, align 8
  %v1266 = getelementptr inbounds ptr, ptr %slot1242, i64 23
  store ptr %v1207, ptr %v1266, align 8
  %v1267 = getelementptr inbounds ptr, ptr %slot1242, i64 24
  store ptr %v1208, ptr %v1267, align 8
  %v1268 = getelementptr inbounds ptr, ptr %slot1242, i64 25
  store ptr %v1209, ptr %v1268, align 8
  %v1269 = getelementptr inbounds ptr, ptr %slot1242, i64 26
  store ptr %v1210, ptr %v1269, align 8
  %v1270 = getelementptr inbounds ptr, ptr %slot1242, i64 27
  store ptr %v1211, ptr %v1270, align 8
  %v1271 = getelementptr inbounds ptr, ptr %slot1242, i64 28
  store ptr %v1212, ptr %v1271, align 8
  %v1272 = getelementptr inbounds ptr, ptr %slot1242, i64 29
  store ptr %v1213, ptr %v1272, align 8
  %v1273 = getelementptr inbounds ptr, ptr %slot1242, i64 30
  store ptr %v1214, ptr %v1273, align 8
  %v1274 = getelementptr inbounds ptr, ptr %slot1242, i64 31
  store ptr %v1215, ptr %v1274, align 8
  %v1275 = getelementptr inbounds ptr, ptr %slot1242, i64 32
  store ptr %v1216, ptr %v1275, align 8
  %v1276 = getelementptr inbounds ptr, ptr %slot1242, i64 33
  store ptr %v1217, ptr %v1276, align 8
  %v1277 = getelementptr inbounds ptr, ptr %slot1242, i64 34
  store ptr %v1218, ptr %v1277, align 8
  %v1278 = getelementptr inbounds ptr, ptr %slot1242, i64 35
  store ptr %v1219, ptr %v1278, align 8
  %v1279 = getelementptr inbounds ptr, ptr %slot1242, i64 36
  store ptr %v1220, ptr %v1279, align 8
  %v1280 = getelementptr inbounds ptr, ptr %slot1242, i64 37
  store ptr %v1221, ptr %v1280, align 8
  %v1281 = getelementptr inbounds ptr, ptr %slot1242, i64 38
  store ptr %v1222, ptr %v1281, align 8
  %v1282 = getelementptr inbounds ptr, ptr %slot1242, i64 39
  store ptr %v1223, ptr %v1282, align 8
  %v1283 = getelementptr inbounds ptr, ptr %slot1242, i64 40
  store ptr %v1224, ptr %v1283, align 8
  %v1284 = getelementptr inbounds ptr, ptr %slot1242, i64 41
  store ptr %v1225, ptr %v1284, align 8
  %v1285 = getelementptr inbounds ptr, ptr %slot1242, i64 42
  store ptr %v1226, ptr %v1285, align 8
  %v1286 = getelementptr inbounds ptr, ptr %slot1242, i64 43
  store ptr %v1227, ptr %v1286, align 8
  %v1287 = getelementptr inbounds ptr, ptr %slot1242, i64 44
  store ptr %v1228, ptr %v1287, align 8
  %v1288 = getelementptr inbounds ptr, ptr %slot1242, i64 45
  store ptr %v1229, ptr %v1288, align 8
  %v1289 = getelementptr inbounds ptr, ptr %slot1242, i64 46
  store ptr %v1230, ptr %v1289, align 8
  %v1290 = getelementptr inbounds ptr, ptr %slot1242, i64 47
  store ptr %v1231, ptr %v1290, align 8
  %v1291 = getelementptr inbounds ptr, ptr %slot1242, i64 48
  store ptr %v1232, ptr %v1291, align 8
  %v1292 = getelementptr inbounds ptr, ptr %slot1242, i64 49
  store ptr %v1233, ptr %v1292, align 8
  %v1293 = getelementptr inbounds ptr, ptr %slot1242, i64 50
  store ptr %v1234, ptr %v1293, align 8
  %v1294 = getelementptr inbounds ptr, ptr %slot1242, i64 51
  store ptr %v1235, ptr %v1294, align 8
  %v1295 = getelementptr inbounds ptr, ptr %slot1242, i64 52
  store ptr %v1236, ptr %v1295, align 8
  %v1296 = getelementptr inbounds ptr, ptr %slot1242, i64 53
  store ptr %v1237, ptr %v1296, align 8
  %v1297 = getelementptr inbounds ptr, ptr %slot1242, i64 54
  store ptr %v1238, ptr %v1297, align 8
  %v1298 = getelementptr inbounds ptr, ptr %slot1242, i64 55
  store ptr %v1239, ptr %v1298, align 8
  %v1299 = getelementptr inbounds ptr, ptr %slot1242, i64 56
  store ptr %v1240, ptr %v1299, align 8
  %v1300 = getelementptr inbounds ptr, ptr %slot1242, i64 57
  store ptr %v1241, ptr %v1300, align 8
  call void @xla_explorer_parallel_for(ptr @tanh_multiply_add_fusion_2_task, ptr %slot1242, i64 3)
  %v1301 = getelementptr inbounds i8, ptr %argument625, i64 49152
  %v1302 = getelementptr inbounds i8, ptr %argument625, i64 2703360
  call void @d73(ptr %v1301, ptr %v1302, ptr %argument625)
  %v1303 = getelementptr inbounds i8, ptr %argument625, i64 3194880
  %v1304 = getelementptr inbounds i8, ptr %argument625, i64 49152
  call void @tanh_reduce_fusion_7(ptr %v1303, ptr %v1304)
  %v1305 = getelementptr inbounds i8, ptr %argument625, i64 3096576
  %v1306 = getelementptr inbounds i8, ptr %argument625, i64 49408
  call void @multiply_reduce_fusion_13(ptr %v1305, ptr %v1306)
  %v1307 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1308 = load ptr, ptr %v1307, !invariant.load !0
  %v1309 = getelementptr inbounds i8, ptr %v1308, i64 2588672
  %v1310 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1311 = load ptr, ptr %v1310, !invariant.load !0
  %v1312 = getelementptr inbounds i8, ptr %v1311, i64 5816320
  call void @subtract_fusion_3(ptr %v1309, ptr %v1312)
  ret i32 0
}

define hidden i32 @xe_entry_part1(ptr noalias %arguments) nounwind optnone noinline "optimization-level"="final" {
entry:
  %slot1509 = alloca ptr, i64 63, align 64
  %v1313 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1314 = load ptr, ptr %v1313, !invariant.load !0
  %v1315 = getelementptr inbounds i8, ptr %v1314, i64 1245184
  %v1316 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1317 = load ptr, ptr %v1316, !invariant.load !0
  %v1318 = getelementptr inbounds i8, ptr %v1317, i64 2801664
  call void @subtract_tanh_fusion(ptr %v1315, ptr %v1318)
  %v1319 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1320 = load ptr, ptr %v1319, !invariant.load !0
  %v1321 = getelementptr inbounds i8, ptr %v1320, i64 49152
  call void @wrapped_tanh_540(ptr %v1321)
  %v1322 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1323 = load ptr, ptr %v1322, !invariant.load !0
  %v1324 = getelementptr inbounds i8, ptr %v1323, i64 49408
  call void @wrapped_tanh_540(ptr %v1324)
  %v1325 = getelementptr inbounds ptr, ptr %arguments, i64 4
  %v1326 = load ptr, ptr %v1325, !invariant.load !0
  %v1327 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1328 = load ptr, ptr %v1327, !invariant.load !0
  %v1329 = getelementptr inbounds i8, ptr %v1328, i64 2719744
  %v1330 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1331 = load ptr, ptr %v1330, !invariant.load !0
  %v1332 = getelementptr inbounds i8, ptr %v1331, i64 1196032
  %v1333 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1334 = load ptr, ptr %v1333, !invariant.load !0
  %v1335 = getelementptr inbounds i8, ptr %v1334, i64 2572288
  %v1336 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1337 = load ptr, ptr %v1336, !invariant.load !0
  %v1338 = getelementptr inbounds i8, ptr %v1337, i64 2441216
  %v1339 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1340 = load ptr, ptr %v1339, !invariant.load !0
  %v1341 = getelementptr inbounds i8, ptr %v1340, i64 49408
  %v1342 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1343 = load ptr, ptr %v1342, !invariant.load !0
  %v1344 = getelementptr inbounds i8, ptr %v1343, i64 2785280
  %v1345 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1346 = load ptr, ptr %v1345, !invariant.load !0
  %v1347 = getelementptr inbounds i8, ptr %v1346, i64 5031680
  %v1348 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1349 = load ptr, ptr %v1348, !invariant.load !0
  %v1350 = getelementptr inbounds i8, ptr %v1349, i64 1458176
  %v1351 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1352 = load ptr, ptr %v1351, !invariant.load !0
  %v1353 = getelementptr inbounds i8, ptr %v1352, i64 3457024
  %v1354 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1355 = load ptr, ptr %v1354, !invariant.load !0
  %v1356 = getelementptr inbounds i8, ptr %v1355, i64 2260992
  %v1357 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1358 = load ptr, ptr %v1357, !invariant.load !0
  %v1359 = getelementptr inbounds i8, ptr %v1358, i64 2654208
  %v1360 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1361 = load ptr, ptr %v1360, !invariant.load !0
  %v1362 = getelementptr inbounds i8, ptr %v1361, i64 1097728
  %v1363 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1364 = load ptr, ptr %v1363, !invariant.load !0
  %v1365 = getelementptr inbounds i8, ptr %v1364, i64 2310144
  %v1366 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1367 = load ptr, ptr %v1366, !invariant.load !0
  %v1368 = getelementptr inbounds i8, ptr %v1367, i64 49152
  %v1369 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1370 = load ptr, ptr %v1369, !invariant.load !0
  %v1371 = getelementptr inbounds i8, ptr %v1370, i64 3276800
  %v1372 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1373 = load ptr, ptr %v1372, !invariant.load !0
  %v1374 = getelementptr inbounds i8, ptr %v1373, i64 1212416
  %v1375 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1376 = load ptr, ptr %v1375, !invariant.load !0
  %v1377 = getelementptr inbounds i8, ptr %v1376, i64 5033216
  %v1378 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1379 = load ptr, ptr %v1378, !invariant.load !0
  %v1380 = getelementptr inbounds i8, ptr %v1379, i64 3506176
  %v1381 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1382 = load ptr, ptr %v1381, !invariant.load !0
  %v1383 = getelementptr inbounds i8, ptr %v1382, i64 786432
  %v1384 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1385 = load ptr, ptr %v1384, !invariant.load !0
  %v1386 = getelementptr inbounds i8, ptr %v1385, i64 1409024
  %v1387 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1388 = load ptr, ptr %v1387, !invariant.load !0
  %v1389 = getelementptr inbounds i8, ptr %v1388, i64 5032704
  %v1390 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1391 = load ptr, ptr %v1390, !invariant.load !0
  %v1392 = getelementptr inbounds i8, ptr %v1391, i64 1703936
  %v1393 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1394 = load ptr, ptr %v1393, !invariant.load !0
  %v1395 = getelementptr inbounds i8, ptr %v1394, i64 3211264
  %v1396 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1397 = load ptr, ptr %v1396, !invariant.load !0
  %v1398 = getelementptr inbounds i8, ptr %v1397, i64 1654784
  %v1399 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1400 = load ptr, ptr %v1399, !invariant.load !0
  %v1401 = getelementptr inbounds i8, ptr %v1400, i64 3391488
  %v1402 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1403 = load ptr, ptr %v1402, !invariant.load !0
  %v1404 = getelementptr inbounds i8, ptr %v1403, i64 1245184
  %v1405 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1406 = load ptr, ptr %v1405, !invariant.load !0
  %v1407 = getelementptr inbounds i8, ptr %v1406, i64 557056
  %v1408 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1409 = load ptr, ptr %v1408, !invariant.load !0
  %v1410 = getelementptr inbounds i8, ptr %v1409, i64 1392640
  %v1411 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1412 = load ptr, ptr %v1411, !invariant.load !0
  %v1413 = getelementptr inbounds i8, ptr %v1412, i64 1720320
  %v1414 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1415 = load ptr, ptr %v1414, !invariant.load !0
  %v1416 = getelementptr inbounds i8, ptr %v1415, i64 3244032
  %v1417 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1418 = load ptr, ptr %v1417, !invariant.load !0
  %v1419 = getelementptr inbounds i8, ptr %v1418, i64 622592
  %v1420 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1421 = load ptr, ptr %v1420, !invariant.load !0
  %v1422 = getelementptr inbounds i8, ptr %v1421, i64 1507328
  %v1423 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1424 = load ptr, ptr %v1423, !invariant.load !0
  %v1425 = getelementptr inbounds i8, ptr %v1424, i64 737280
  %v1426 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1427 = load ptr, ptr %v1426, !invariant.load !0
  %v1428 = getelementptr inbounds i8, ptr %v1427, i64 540672
  %v1429 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1430 = load ptr, ptr %v1429, !invariant.load !0
  %v1431 = getelementptr inbounds i8, ptr %v1430, i64 1310720
  %v1432 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1433 = load ptr, ptr %v1432, !invariant.load !0
  %v1434 = getelementptr inbounds i8, ptr %v1433, i64 1605632
  %v1435 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1436 = load ptr, ptr %v1435, !invariant.load !0
  %v1437 = getelementptr inbounds i8, ptr %v1436, i64 819200
  %v1438 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1439 = load ptr, ptr %v1438, !invariant.load !0
  %v1440 = getelementptr inbounds i8, ptr %v1439, i64 180224
  %v1441 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1442 = load ptr, ptr %v1441, !invariant.load !0
  %v1443 = getelementptr inbounds i8, ptr %v1442, i64 442368
  %v1444 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1445 = load ptr, ptr %v1444, !invariant.load !0
  %v1446 = getelementptr inbounds i8, ptr %v1445, i64 2031616
  %v1447 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1448 = load ptr, ptr %v1447, !invariant.load !0
  %v1449 = getelementptr inbounds i8, ptr %v1448, i64 2605056
  %v1450 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1451 = load ptr, ptr %v1450, !invariant.load !0
  %v1452 = getelementptr inbounds i8, ptr %v1451, i64 98304
  %v1453 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1454 = load ptr, ptr %v1453, !invariant.load !0
  %v1455 = getelementptr inbounds i8, ptr %v1454, i64 2129920
  %v1456 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1457 = load ptr, ptr %v1456, !invariant.load !0
  %v1458 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1459 = load ptr, ptr %v1458, !invariant.load !0
  %v1460 = getelementptr inbounds i8, ptr %v1459, i64 2588672
  %v1461 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1462 = load ptr, ptr %v1461, !invariant.load !0
  %v1463 = getelementptr inbounds i8, ptr %v1462, i64 2818048
  %v1464 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1465 = load ptr, ptr %v1464, !invariant.load !0
  %v1466 = getelementptr inbounds i8, ptr %v1465, i64 5031424
  %v1467 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1468 = load ptr, ptr %v1467, !invariant.load !0
  %v1469 = getelementptr inbounds i8, ptr %v1468, i64 1556480
  %v1470 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1471 = load ptr, ptr %v1470, !invariant.load !0
  %v1472 = getelementptr inbounds i8, ptr %v1471, i64 3080192
  %v1473 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1474 = load ptr, ptr %v1473, !invariant.load !0
  %v1475 = getelementptr inbounds i8, ptr %v1474, i64 1884160
  %v1476 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1477 = load ptr, ptr %v1476, !invariant.load !0
  %v1478 = getelementptr inbounds i8, ptr %v1477, i64 1769472
  %v1479 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1480 = load ptr, ptr %v1479, !invariant.load !0
  %v1481 = getelementptr inbounds i8, ptr %v1480, i64 3260416
  %v1482 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1483 = load ptr, ptr %v1482, !invariant.load !0
  %v1484 = getelementptr inbounds i8, ptr %v1483, i64 393216
  %v1485 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1486 = load ptr, ptr %v1485, !invariant.load !0
  %v1487 = getelementptr inbounds i8, ptr %v1486, i64 2850816
  %v1488 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1489 = load ptr, ptr %v1488, !invariant.load !0
  %v1490 = getelementptr inbounds i8, ptr %v1489, i64 1146880
  %v1491 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1492 = load ptr, ptr %v1491, !invariant.load !0
  %v1493 = getelementptr inbounds i8, ptr %v1492, i64 2228224
  %v1494 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1495 = load ptr, ptr %v1494, !invariant.load !0
  %v1496 = getelementptr inbounds i8, ptr %v1495, i64 2113536
  %v1497 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1498 = load ptr, ptr %v1497, !invariant.load !0
  %v1499 = getelementptr inbounds i8, ptr %v1498, i64 2244608
  %v1500 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1501 = load ptr, ptr %v1500, !invariant.load !0
  %v1502 = getelementptr inbounds i8, ptr %v1501, i64 3014656
  %v1503 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1504 = load ptr, ptr %v1503, !invariant.load !0
  %v1505 = getelementptr inbounds i8, ptr %v1504, i64 5030656
  %v1506 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1507 = load ptr, ptr %v1506, !invariant.load !0
  %v1508 = getelementptr inbounds i8, ptr %v1507, i64 5030400
  %v1510 = getelementptr inbounds ptr, ptr %slot1509, i64 0
  store ptr %v1326, ptr %v1510, align 8
  %v1511 = getelementptr inbounds ptr, ptr %slot1509, i64 1
  store ptr %v1329, ptr %v1511, align 8
  %v1512 = getelementptr inbounds ptr, ptr %slot1509, i64 2
  store ptr %v1332, ptr %v1512, align 8
  %v1513 = getelementptr inbounds ptr, ptr %slot1509, i64 3
  store ptr %v1335, ptr %v1513, align 8
  %v1514 = getelementptr inbounds ptr, ptr %slot1509, i64 4
  store ptr %v1338, ptr %v1514, align 8
  %v1515 = getelementptr inbounds ptr, ptr %slot1509, i64 5
  store ptr %v1341, ptr %v1515, align 8
  %v1516 = getelementptr inbounds ptr, ptr %slot1509, i64 6
  store ptr %v1344, ptr %v1516, align 8
  %v1517 = getelementptr inbounds ptr, ptr %slot1509, i64 7
  store ptr %v1347, ptr %v1517, align 8
  %v1518 = getelementptr inbounds ptr, ptr %slot1509, i64 8
  store ptr %v1350, ptr %v1518, align 8
  %v1519 = getelementptr inbounds ptr, ptr %slot1509, i64 9
  store ptr %v1353, ptr %v1519, align 8
  %v1520 = getelementptr inbounds ptr, ptr %slot1509, i64 10
  store ptr %v1356, ptr %v1520, align 8
  %v1521 = getelementptr inbounds ptr, ptr %slot1509, i64 11
  store ptr %v1359, ptr %v1521, align 8
  %v1522 = getelementptr inbounds ptr, ptr %slot1509, i64 12
  store ptr %v1362, ptr %v1522, align 8
  %v1523 = getelementptr inbounds ptr, ptr %slot1509, i64 13
  store ptr %v1365, ptr %v1523, align 8
  %v1524 = getelementptr inbounds ptr, ptr %slot1509, i64 14
  store ptr %v1368, ptr %v1524, align 8
  %v1525 = getelementptr inbounds ptr, ptr %slot1509, i64 15
  store ptr %v1371, ptr %v1525, align 8
  %v1526 = getelementptr inbounds ptr, ptr %slot1509, i64 16
  store ptr %v1374, ptr %v1526, align 8
  %v1527 = getelementptr inbounds ptr, ptr %slot1509, i64 17
  store ptr %v1377, ptr %v1527, align 8
  %v1528 = getelementptr inbounds ptr, ptr %slot1509, i64 18
  store ptr %v1380, ptr %v1528, align 8
  %v1529 = getelementptr inbounds ptr, ptr %slot1509, i64 19
  store ptr %v1383, ptr %v1529, align 8
  %v1530 = getelementptr inbounds ptr, ptr %slot1509, i64 20
  store ptr %v1386, ptr %v1530, align 8
  %v1531 = getelementptr inbounds ptr, ptr %slot1509, i64 21
  store ptr %v1389, ptr %v1531, align 8
  %v1532 = getelementptr inbounds ptr, ptr %slot1509, i64 22
  store ptr %v1392, ptr %v1532, align 8
  %v1533 = getelementptr inbounds ptr, ptr %slot1509, i64 23
  store ptr %v1395, ptr %v1533, align 8
  %v1534 = getelementptr inbounds ptr, ptr %slot1509, i64 24
  store ptr %v1398, ptr %v1534, align 8
  %v1535 = getelementptr inbounds ptr, ptr %slot1509, i64 25
  store ptr %v1401, ptr %v1535, align 8
  %v1536 = getelementptr inbounds ptr, ptr %slot1509, i64 26
  store ptr %v1404, ptr %v1536, align 8
  %v1537 = getelementptr inbounds ptr, ptr %slot1509, i64 27
  store ptr %v1407, ptr %v1537, align 8
  %v1538 = getelementptr inbounds ptr, ptr %slot1509, i64 28
  store ptr %v1410, ptr %v1538, align 8
  %v1539 = getelementptr inbounds ptr, ptr %slot1509, i64 29
  store ptr %v1413, ptr %v1539, align 8
  %v1540 = getelementptr inbounds ptr, ptr %slot1509, i64 30
  store ptr %v1416, ptr %v1540, align 8
  %v1541 = getelementptr inbounds ptr, ptr %slot1509, i64 31
  store ptr %v1419, ptr %v1541, align 8
  %v1542 = getelementptr inbounds ptr, ptr %slot1509, i64 32
  store ptr %v1422, ptr %v1542, align 8
  %v1543 = getelementptr inbounds ptr, ptr %slot1509, i64 33
  store ptr %v1425, ptr %v1543, align 8
  %v1544 = getelementptr inbounds ptr, ptr %slot1509, i64 34
  store ptr %v1428, ptr %v1544, align 8
  %v1545 = getelementptr inbounds ptr, ptr %slot1509, i64 35
  store ptr %v1431, ptr %v1545, align 8
  %v1546 = getelementptr inbounds ptr, ptr %slot1509, i64 36
  store ptr %v1434, ptr %v1546, align 8
  %v1547 = getelementptr inbounds ptr, ptr %slot1509, i64 37
  store ptr %v1437, ptr %v1547, align 8
  %v1548 = getelementptr inbounds ptr, ptr %slot1509, i64 38
  store ptr %v1440, ptr %v1548, align 8
  %v1549 = getelementptr inbounds ptr, ptr %slot1509, i64 39
  store ptr %v1443, ptr %v1549, align 8
  %v1550 = getelementptr inbounds ptr, ptr %slot1509, i64 40
  store ptr %v1446, ptr %v1550, align 8
  %v1551 = getelementptr inbounds ptr, ptr %slot1509, i64 41
  store ptr %v1449, ptr %v1551, align 8
  %v1552 = getelementptr inbounds ptr, ptr %slot1509, i64 42
  store ptr %v1452, ptr %v1552, align 8
  %v1553 = getelementptr inbounds ptr, ptr %slot1509, i64 43
  store ptr %v1455, ptr %v1553, align 8
  %v1554 = getelementptr inbounds ptr, ptr %slot1509, i64 44
  store ptr %v1457, ptr %v1554, align 8
  %v1555 = getelementptr inbounds ptr, ptr %slot1509, i64 45
  store ptr %v1460, ptr %v1555, align 8
  %v1556 = getelementptr inbounds ptr, ptr %slot1509, i64 46
  store ptr %v1463, ptr %v1556, align 8
  %v1557 = getelementptr inbounds ptr, ptr %slot1509, i64 47
  store ptr %v1466, ptr %v1557, align 8
  %v1558 = getelementptr inbounds ptr, ptr %slot1509, i64 48
  store ptr %v1469, ptr %v1558, align 8
  %v1559 = getelementptr inbounds ptr, ptr %slot1509, i64 49
  store ptr %v1472, ptr %v1559, align 8
  %v1560 = getelementptr inbounds ptr, ptr %slot1509, i64 50
  store ptr %v1475, ptr %v1560, align 8
  %v1561 = getelementptr inbounds ptr, ptr %slot1509, i64 51
  store ptr %v1478, ptr %v1561, align 8
  %v1562 = getelementptr inbounds ptr, ptr %slot1509, i64 52
  store ptr %v1481, ptr %v1562, align 8
  %v1563 = getelementptr inbounds ptr, ptr %slot1509, i64 53
  store ptr %v1484, ptr %v1563, align 8
  %v1564 = getelementptr inbounds ptr, ptr %slot1509, i64 54
  store ptr %v1487, ptr %v1564, align 8
  %v1565 = getelementptr inbounds ptr, ptr %slot1509, i64 55
  store ptr %v1490, ptr %v1565, align 8
  %v1566 = getelementptr inbounds ptr, ptr %slot1509, i64 56
  store ptr %v1493, ptr %v1566, align 8
  %v1567 = getelementptr inbounds ptr, ptr %slot1509, i64 57
  store ptr %v1496, ptr %v1567, align 8
  %v1568 = getelementptr inbounds ptr, ptr %slot1509, i64 58
  store ptr %v1499, ptr %v1568, align 8
  %v1569 = getelementptr inbounds ptr, ptr %slot1509, i64 59
  store ptr %v1502, ptr %v1569, align 8
  %v1570 = getelementptr inbounds ptr, ptr %slot1509, i64 60
  store ptr %v1505, ptr %v1570, align 8
  %v1571 = getelementptr inbounds ptr, ptr %slot1509, i64 61
  store ptr %v1508, ptr %v1571, align 8
  call void @xla_explorer_parallel_for(ptr @tanh_maximum_add_fusion_2_task, ptr %slot1509, i64 4)
  %v1572 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1573 = load ptr, ptr %v1572, !invariant.load !0
  %v1574 = getelementptr inbounds i8, ptr %v1573, i64 3473408
  %v1575 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1576 = load ptr, ptr %v1575, !invariant.load !0
  %v1577 = getelementptr inbounds i8, ptr %v1576, i64 3211264
  call void @reduce_fusion_110(ptr %v1574, ptr %v1577)
  %v1578 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1579 = load ptr, ptr %v1578, !invariant.load !0
  %v1580 = getelementptr inbounds i8, ptr %v1579, i64 3211264
  call void @wrapped_tanh_540(ptr %v1580)
  %v1581 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1582 = load ptr, ptr %v1581, !invariant.load !0
  %v1583 = getelementptr inbounds i8, ptr %v1582, i64 1064960
  %v1584 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1585 = load ptr, ptr %v1584, !invariant.load !0
  %v1586 = getelementptr inbounds i8, ptr %v1585, i64 1966080
  %v1587 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1588 = load ptr, ptr %v1587, !invariant.load !0
  %v1589 = getelementptr inbounds i8, ptr %v1588, i64 3211264
  %v1590 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1591 = load ptr, ptr %v1590, !invariant.load !0
  %v1592 = getelementptr inbounds i8, ptr %v1591, i64 4440064
  %v1593 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1594 = load ptr, ptr %v1593, !invariant.load !0
  %v1595 = getelementptr inbounds i8, ptr %v1594, i64 2523136
  %v1596 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1597 = load ptr, ptr %v1596, !invariant.load !0
  %v1598 = getelementptr inbounds i8, ptr %v1597, i64 4997120
  %v1599 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1600 = load ptr, ptr %v1599, !invariant.load !0
  %v1601 = getelementptr inbounds i8, ptr %v1600, i64 4194304
  %v1602 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1603 = load ptr, ptr %v1602, !invariant.load !0
  %v1604 = getelementptr inbounds i8, ptr %v1603, i64 3538944
  %v1605 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1606 = load ptr, ptr %v1605, !invariant.load !0
  %v1607 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1608 = load ptr, ptr %v1607, !invariant.load !0
  %v1609 = getelementptr inbounds i8, ptr %v1608, i64 49152
  %v1610 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1611 = load ptr, ptr %v1610, !invariant.load !0
  %v1612 = getelementptr inbounds i8, ptr %v1611, i64 81920
  %v1613 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1614 = load ptr, ptr %v1613, !invariant.load !0
  %v1615 = getelementptr inbounds i8, ptr %v1614, i64 114688
  %v1616 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1617 = load ptr, ptr %v1616, !invariant.load !0
  %v1618 = getelementptr inbounds i8, ptr %v1617, i64 294912
  call void @multiply_minimum_tanh_fusion_7(ptr %v1583, ptr %v1586, ptr %v1589, ptr %v1592, ptr %v1595, ptr %v1598, ptr %v1601, ptr %v1604, ptr %v1606, ptr %v1609, ptr %v1612, ptr %v1615, ptr %v1618)
  %v1619 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1620 = load ptr, ptr %v1619, !invariant.load !0
  %v1621 = getelementptr inbounds i8, ptr %v1620, i64 2899968
  %v1622 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1623 = load ptr, ptr %v1622, !invariant.load !0
  %v1624 = getelementptr inbounds i8, ptr %v1623, i64 1130496
  %v1625 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1626 = load ptr, ptr %v1625, !invariant.load !0
  %v1627 = getelementptr inbounds i8, ptr %v1626, i64 5029888
  %v1628 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1629 = load ptr, ptr %v1628, !invariant.load !0
  %v1630 = getelementptr inbounds i8, ptr %v1629, i64 2211840
  %v1631 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1632 = load ptr, ptr %v1631, !invariant.load !0
  %v1633 = getelementptr inbounds i8, ptr %v1632, i64 1785856
  %v1634 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1635 = load ptr, ptr %v1634, !invariant.load !0
  %v1636 = getelementptr inbounds i8, ptr %v1635, i64 1966080
  call void @subtract_multiply_fusion_144(ptr %v1621, ptr %v1624, ptr %v1627, ptr %v1630, ptr %v1633, ptr %v1636)
  %v1637 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1638 = load ptr, ptr %v1637, !invariant.load !0
  %v1639 = getelementptr inbounds i8, ptr %v1638, i64 2097152
  %v1640 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1641 = load ptr, ptr %v1640, !invariant.load !0
  %v1642 = getelementptr inbounds i8, ptr %v1641, i64 1982464
  %v1643 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1644 = load ptr, ptr %v1643, !invariant.load !0
  %v1645 = getelementptr inbounds i8, ptr %v1644, i64 327680
  call void @d73(ptr %v1639, ptr %v1642, ptr %v1645)
  %v1646 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1647 = load ptr, ptr %v1646, !invariant.load !0
  %v1648 = getelementptr inbounds i8, ptr %v1647, i64 655360
  %v1649 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1650 = load ptr, ptr %v1649, !invariant.load !0
  %v1651 = getelementptr inbounds i8, ptr %v1650, i64 3817472
  %v1652 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1653 = load ptr, ptr %v1652, !invariant.load !0
  %v1654 = getelementptr inbounds i8, ptr %v1653, i64 901120
  %v1655 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1656 = load ptr, ptr %v1655, !invariant.load !0
  %v1657 = getelementptr inbounds i8, ptr %v1656, i64 4358144
  %v1658 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1659 = load ptr, ptr %v1658, !invariant.load !0
  %v1660 = getelementptr inbounds i8, ptr %v1659, i64 606208
  %v1661 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1662 = load ptr, ptr %v1661, !invariant.load !0
  %v1663 = getelementptr inbounds i8, ptr %v1662, i64 491520
  %v1664 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1665 = load ptr, ptr %v1664, !invariant.load !0
  %v1666 = getelementptr inbounds i8, ptr %v1665, i64 327680
  %v1667 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1668 = load ptr, ptr %v1667, !invariant.load !0
  %v1669 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1670 = load ptr, ptr %v1669, !invariant.load !0
  %v1671 = getelementptr inbounds i8, ptr %v1670, i64 3440640
  call void @multiply_tanh_maximum_fusion_7(ptr %v1648, ptr %v1651, ptr %v1654, ptr %v1657, ptr %v1660, ptr %v1663, ptr %v1666, ptr %v1668, ptr %v1671)
  %v1672 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1673 = load ptr, ptr %v1672, !invariant.load !0
  %v1674 = getelementptr inbounds i8, ptr %v1673, i64 1359872
  %v1675 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1676 = load ptr, ptr %v1675, !invariant.load !0
  %v1677 = getelementptr inbounds i8, ptr %v1676, i64 4636672
  call void @tanh_reduce_fusion_7(ptr %v1674, ptr %v1677)
  %v1678 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1679 = load ptr, ptr %v1678, !invariant.load !0
  %v1680 = getelementptr inbounds i8, ptr %v1679, i64 4636672
  call void @wrapped_tanh_540(ptr %v1680)
  %v1681 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1682 = load ptr, ptr %v1681, !invariant.load !0
  %v1683 = getelementptr inbounds i8, ptr %v1682, i64 2949120
  %v1684 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1685 = load ptr, ptr %v1684, !invariant.load !0
  %v1686 = getelementptr inbounds i8, ptr %v1685, i64 3211520
  call void @reduce_fusion_99(ptr %v1683, ptr %v1686)
  %v1687 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1688 = load ptr, ptr %v1687, !invariant.load !0
  %v1689 = getelementptr inbounds i8, ptr %v1688, i64 3211520
  call void @wrapped_tanh_540(ptr %v1689)
  %v1690 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1691 = load ptr, ptr %v1690, !invariant.load !0
  %v1692 = getelementptr inbounds i8, ptr %v1691, i64 3227648
  call void @multiply_tanh_fusion_122(ptr %v1692)
  %v1693 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1694 = load ptr, ptr %v1693, !invariant.load !0
  %v1695 = getelementptr inbounds i8, ptr %v1694, i64 3227648
  %v1696 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1697 = load ptr, ptr %v1696, !invariant.load !0
  %v1698 = getelementptr inbounds i8, ptr %v1697, i64 5046272
  call void @reduce_fusion_110(ptr %v1695, ptr %v1698)
  %v1699 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1700 = load ptr, ptr %v1699, !invariant.load !0
  %v1701 = getelementptr inbounds i8, ptr %v1700, i64 5046272
  call void @wrapped_tanh_540(ptr %v1701)
  %v1702 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1703 = load ptr, ptr %v1702, !invariant.load !0
  %v1704 = getelementptr inbounds i8, ptr %v1703, i64 720896
  %v1705 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1706 = load ptr, ptr %v1705, !invariant.load !0
  %v1707 = getelementptr inbounds i8, ptr %v1706, i64 1998848
  %v1708 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1709 = load ptr, ptr %v1708, !invariant.load !0
  %v1710 = getelementptr inbounds i8, ptr %v1709, i64 950272
  call void @multiply_add_multiply_fusion_76(ptr %v1704, ptr %v1707, ptr %v1710)
  %v1711 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1712 = load ptr, ptr %v1711, !invariant.load !0
  %v1713 = getelementptr inbounds i8, ptr %v1712, i64 4456448
  %v1714 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1715 = load ptr, ptr %v1714, !invariant.load !0
  %v1716 = getelementptr inbounds i8, ptr %v1715, i64 950272
  %v1717 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1718 = load ptr, ptr %v1717, !invariant.load !0
  %v1719 = getelementptr inbounds i8, ptr %v1718, i64 327680
  call void @d1095(ptr %v1713, ptr %v1716, ptr %v1719)
  %v1720 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1721 = load ptr, ptr %v1720, !invariant.load !0
  %v1722 = getelementptr inbounds i8, ptr %v1721, i64 262144
  %v1723 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1724 = load ptr, ptr %v1723, !invariant.load !0
  %v1725 = getelementptr inbounds i8, ptr %v1724, i64 1458176
  %v1726 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1727 = load ptr, ptr %v1726, !invariant.load !0
  %v1728 = getelementptr inbounds i8, ptr %v1727, i64 4112384
  %v1729 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1730 = load ptr, ptr %v1729, !invariant.load !0
  %v1731 = getelementptr inbounds i8, ptr %v1730, i64 4521984
  %v1732 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1733 = load ptr, ptr %v1732, !invariant.load !0
  %v1734 = getelementptr inbounds i8, ptr %v1733, i64 1097728
  %v1735 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1736 = load ptr, ptr %v1735, !invariant.load !0
  %v1737 = getelementptr inbounds i8, ptr %v1736, i64 851968
  %v1738 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1739 = load ptr, ptr %v1738, !invariant.load !0
  %v1740 = getelementptr inbounds i8, ptr %v1739, i64 884736
  %v1741 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1742 = load ptr, ptr %v1741, !invariant.load !0
  %v1743 = getelementptr inbounds i8, ptr %v1742, i64 4128768
  %v1744 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1745 = load ptr, ptr %v1744, !invariant.load !0
  %v1746 = getelementptr inbounds i8, ptr %v1745, i64 3538944
  %v1747 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1748 = load ptr, ptr %v1747, !invariant.load !0
  %v1749 = getelementptr inbounds i8, ptr %v1748, i64 360448
  %v1750 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1751 = load ptr, ptr %v1750, !invariant.load !0
  %v1752 = getelementptr inbounds i8, ptr %v1751, i64 393216
  call void @multiply_add_tanh_maximum_fusion(ptr %v1722, ptr %v1725, ptr %v1728, ptr %v1731, ptr %v1734, ptr %v1737, ptr %v1740, ptr %v1743, ptr %v1746, ptr %v1749, ptr %v1752)
  %v1753 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1754 = load ptr, ptr %v1753, !invariant.load !0
  %v1755 = getelementptr inbounds i8, ptr %v1754, i64 262144
  %v1756 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1757 = load ptr, ptr %v1756, !invariant.load !0
  %v1758 = getelementptr inbounds i8, ptr %v1757, i64 3211776
  call void @reduce_fusion_110(ptr %v1755, ptr %v1758)
  %v1759 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1760 = load ptr, ptr %v1759, !invariant.load !0
  %v1761 = getelementptr inbounds i8, ptr %v1760, i64 3211776
  call void @wrapped_tanh_540(ptr %v1761)
  %v1762 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1763 = load ptr, ptr %v1762, !invariant.load !0
  %v1764 = getelementptr inbounds i8, ptr %v1763, i64 4374528
  %v1765 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1766 = load ptr, ptr %v1765, !invariant.load !0
  %v1767 = getelementptr inbounds i8, ptr %v1766, i64 3489792
  %v1768 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1769 = load ptr, ptr %v1768, !invariant.load !0
  %v1770 = getelementptr inbounds i8, ptr %v1769, i64 2457600
  %v1771 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1772 = load ptr, ptr %v1771, !invariant.load !0
  %v1773 = getelementptr inbounds i8, ptr %v1772, i64 3293184
  %v1774 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1775 = load ptr, ptr %v1774, !invariant.load !0
  %v1776 = getelementptr inbounds i8, ptr %v1775, i64 4407296
  %v1777 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1778 = load ptr, ptr %v1777, !invariant.load !0
  %v1779 = getelementptr inbounds i8, ptr %v1778, i64 589824
  %v1780 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1781 = load ptr, ptr %v1780, !invariant.load !0
  %v1782 = getelementptr inbounds i8, ptr %v1781, i64 245760
  %v1783 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1784 = load ptr, ptr %v1783, !invariant.load !0
  %v1785 = getelementptr inbounds i8, ptr %v1784, i64 2277376
  %v1786 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1787 = load ptr, ptr %v1786, !invariant.load !0
  %v1788 = getelementptr inbounds i8, ptr %v1787, i64 2048000
  %v1789 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1790 = load ptr, ptr %v1789, !invariant.load !0
  %v1791 = getelementptr inbounds i8, ptr %v1790, i64 835584
  %v1792 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1793 = load ptr, ptr %v1792, !invariant.load !0
  %v1794 = getelementptr inbounds i8, ptr %v1793, i64 2785280
  %v1795 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1796 = load ptr, ptr %v1795, !invariant.load !0
  %v1797 = getelementptr inbounds i8, ptr %v1796, i64 5031680
  %v1798 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1799 = load ptr, ptr %v1798, !invariant.load !0
  %v1800 = getelementptr inbounds i8, ptr %v1799, i64 524288
  call void @multiply_minimum_tanh_subtract_fusion_2(ptr %v1764, ptr %v1767, ptr %v1770, ptr %v1773, ptr %v1776, ptr %v1779, ptr %v1782, ptr %v1785, ptr %v1788, ptr %v1791, ptr %v1794, ptr %v1797, ptr %v1800)
  %v1801 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1802 = load ptr, ptr %v1801, !invariant.load !0
  %v1803 = getelementptr inbounds i8, ptr %v1802, i64 2785280
  %v1804 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1805 = load ptr, ptr %v1804, !invariant.load !0
  %v1806 = getelementptr inbounds i8, ptr %v1805, i64 5586944
  call void @reduce_fusion_99(ptr %v1803, ptr %v1806)
  %v1807 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1808 = load ptr, ptr %v1807, !invariant.load !0
  %v1809 = getelementptr inbounds i8, ptr %v1808, i64 5586944
  call void @wrapped_tanh_540(ptr %v1809)
  %v1810 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1811 = load ptr, ptr %v1810, !invariant.load !0
  %v1812 = getelementptr inbounds i8, ptr %v1811, i64 5033472
  %v1813 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1814 = load ptr, ptr %v1813, !invariant.load !0
  %v1815 = getelementptr inbounds i8, ptr %v1814, i64 5816576
  call void @wrapped_tanh_533(ptr %v1812, ptr %v1815)
  %v1816 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1817 = load ptr, ptr %v1816, !invariant.load !0
  %v1818 = getelementptr inbounds i8, ptr %v1817, i64 4096000
  %v1819 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1820 = load ptr, ptr %v1819, !invariant.load !0
  %v1821 = getelementptr inbounds i8, ptr %v1820, i64 5816576
  %v1822 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1823 = load ptr, ptr %v1822, !invariant.load !0
  %v1824 = getelementptr inbounds i8, ptr %v1823, i64 327680
  %v1825 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1826 = load ptr, ptr %v1825, !invariant.load !0
  %v1827 = getelementptr inbounds i8, ptr %v1826, i64 622592
  %v1828 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1829 = load ptr, ptr %v1828, !invariant.load !0
  %v1830 = getelementptr inbounds i8, ptr %v1829, i64 671744
  call void @maximum_multiply_tanh_fusion_5(ptr %v1818, ptr %v1821, ptr %v1824, ptr %v1827, ptr %v1830)
  %v1831 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1832 = load ptr, ptr %v1831, !invariant.load !0
  %v1833 = getelementptr inbounds i8, ptr %v1832, i64 4128768
  %v1834 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1835 = load ptr, ptr %v1834, !invariant.load !0
  %v1836 = getelementptr inbounds i8, ptr %v1835, i64 278528
  %v1837 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1838 = load ptr, ptr %v1837, !invariant.load !0
  %v1839 = getelementptr inbounds i8, ptr %v1838, i64 4866048
  %v1840 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1841 = load ptr, ptr %v1840, !invariant.load !0
  %v1842 = getelementptr inbounds i8, ptr %v1841, i64 4177920
  %v1843 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1844 = load ptr, ptr %v1843, !invariant.load !0
  %v1845 = getelementptr inbounds i8, ptr %v1844, i64 1343488
  %v1846 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1847 = load ptr, ptr %v1846, !invariant.load !0
  %v1848 = getelementptr inbounds i8, ptr %v1847, i64 311296
  %v1849 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1850 = load ptr, ptr %v1849, !invariant.load !0
  %v1851 = getelementptr inbounds i8, ptr %v1850, i64 2277376
  %v1852 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1853 = load ptr, ptr %v1852, !invariant.load !0
  %v1854 = getelementptr inbounds i8, ptr %v1853, i64 4341760
  %v1855 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1856 = load ptr, ptr %v1855, !invariant.load !0
  %v1857 = getelementptr inbounds i8, ptr %v1856, i64 688128
  %v1858 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1859 = load ptr, ptr %v1858, !invariant.load !0
  %v1860 = getelementptr inbounds i8, ptr %v1859, i64 704512
  %v1861 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1862 = load ptr, ptr %v1861, !invariant.load !0
  %v1863 = getelementptr inbounds i8, ptr %v1862, i64 737280
  %v1864 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1865 = load ptr, ptr %v1864, !invariant.load !0
  %v1866 = getelementptr inbounds i8, ptr %v1865, i64 753664
  %v1867 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1868 = load ptr, ptr %v1867, !invariant.load !0
  %v1869 = getelementptr inbounds i8, ptr %v1868, i64 819200
  %v1870 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1871 = load ptr, ptr %v1870, !invariant.load !0
  %v1872 = getelementptr inbounds i8, ptr %v1871, i64 868352
  %v1873 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1874 = load ptr, ptr %v1873, !invariant.load !0
  %v1875 = getelementptr inbounds i8, ptr %v1874, i64 917504
  %v1876 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1877 = load ptr, ptr %v1876, !invariant.load !0
  %v1878 = getelementptr inbounds i8, ptr %v1877, i64 950272
  %v1879 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1880 = load ptr, ptr %v1879, !invariant.load !0
  %v1881 = getelementptr inbounds i8, ptr %v1880, i64 999424
  call void @subtract_multiply_tanh_minimum_fusion(ptr %v1833, ptr %v1836, ptr %v1839, ptr %v1842, ptr %v1845, ptr %v1848, ptr %v1851, ptr %v1854, ptr %v1857, ptr %v1860, ptr %v1863, ptr %v1866, ptr %v1869, ptr %v1872, ptr %v1875, ptr %v1878, ptr %v1881)
  %v1882 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1883 = load ptr, ptr %v1882, !invariant.load !0
  %v1884 = getelementptr inbounds i8, ptr %v1883, i64 4587520
  %v1885 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1886 = load ptr, ptr %v1885, !invariant.load !0
  %v1887 = getelementptr inbounds i8, ptr %v1886, i64 2818048
  %v1888 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1889 = load ptr, ptr %v1888, !invariant.load !0
  %v1890 = getelementptr inbounds i8, ptr %v1889, i64 4882432
  %v1891 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1892 = load ptr, ptr %v1891, !invariant.load !0
  %v1893 = getelementptr inbounds i8, ptr %v1892, i64 2752512
  %v1894 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1895 = load ptr, ptr %v1894, !invariant.load !0
  %v1896 = getelementptr inbounds i8, ptr %v1895, i64 868352
  %v1897 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1898 = load ptr, ptr %v1897, !invariant.load !0
  %v1899 = getelementptr inbounds i8, ptr %v1898, i64 3211776
  %v1900 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1901 = load ptr, ptr %v1900, !invariant.load !0
  %v1902 = getelementptr inbounds i8, ptr %v1901, i64 3211520
  %v1903 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1904 = load ptr, ptr %v1903, !invariant.load !0
  %v1905 = getelementptr inbounds i8, ptr %v1904, i64 2211840
  %v1906 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1907 = load ptr, ptr %v1906, !invariant.load !0
  %v1908 = getelementptr inbounds i8, ptr %v1907, i64 327680
  %v1909 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1910 = load ptr, ptr %v1909, !invariant.load !0
  %v1911 = getelementptr inbounds i8, ptr %v1910, i64 1081344
  %v1912 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1913 = load ptr, ptr %v1912, !invariant.load !0
  %v1914 = getelementptr inbounds i8, ptr %v1913, i64 1212416
  %v1915 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1916 = load ptr, ptr %v1915, !invariant.load !0
  %v1917 = getelementptr inbounds i8, ptr %v1916, i64 1245184
  %v1918 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1919 = load ptr, ptr %v1918, !invariant.load !0
  %v1920 = getelementptr inbounds i8, ptr %v1919, i64 1310720
  %v1921 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1922 = load ptr, ptr %v1921, !invariant.load !0
  %v1923 = getelementptr inbounds i8, ptr %v1922, i64 1327104
  %v1924 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1925 = load ptr, ptr %v1924, !invariant.load !0
  %v1926 = getelementptr inbounds i8, ptr %v1925, i64 1359872
  %v1927 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1928 = load ptr, ptr %v1927, !invariant.load !0
  %v1929 = getelementptr inbounds i8, ptr %v1928, i64 1392640
  call void @tanh_multiply_minimum_maximum_fusion_1(ptr %v1884, ptr %v1887, ptr %v1890, ptr %v1893, ptr %v1896, ptr %v1899, ptr %v1902, ptr %v1905, ptr %v1908, ptr %v1911, ptr %v1914, ptr %v1917, ptr %v1920, ptr %v1923, ptr %v1926, ptr %v1929)
  %v1930 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1931 = load ptr, ptr %v1930, !invariant.load !0
  %v1932 = getelementptr inbounds i8, ptr %v1931, i64 458752
  %v1933 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1934 = load ptr, ptr %v1933, !invariant.load !0
  %v1935 = getelementptr inbounds i8, ptr %v1934, i64 360448
  %v1936 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1937 = load ptr, ptr %v1936, !invariant.load !0
  %v1938 = getelementptr inbounds i8, ptr %v1937, i64 1507328
  %v1939 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1940 = load ptr, ptr %v1939, !invariant.load !0
  %v1941 = getelementptr inbounds i8, ptr %v1940, i64 4816896
  %v1942 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1943 = load ptr, ptr %v1942, !invariant.load !0
  %v1944 = getelementptr inbounds i8, ptr %v1943, i64 4227072
  %v1945 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1946 = load ptr, ptr %v1945, !invariant.load !0
  %v1947 = getelementptr inbounds i8, ptr %v1946, i64 4636672
  %v1948 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1949 = load ptr, ptr %v1948, !invariant.load !0
  %v1950 = getelementptr inbounds i8, ptr %v1949, i64 868352
  %v1951 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1952 = load ptr, ptr %v1951, !invariant.load !0
  %v1953 = getelementptr inbounds i8, ptr %v1952, i64 1966080
  %v1954 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1955 = load ptr, ptr %v1954, !invariant.load !0
  %v1956 = getelementptr inbounds i8, ptr %v1955, i64 1425408
  %v1957 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1958 = load ptr, ptr %v1957, !invariant.load !0
  %v1959 = getelementptr inbounds i8, ptr %v1958, i64 1458176
  %v1960 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1961 = load ptr, ptr %v1960, !invariant.load !0
  %v1962 = getelementptr inbounds i8, ptr %v1961, i64 1605632
  %v1963 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1964 = load ptr, ptr %v1963, !invariant.load !0
  %v1965 = getelementptr inbounds i8, ptr %v1964, i64 1654784
  %v1966 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1967 = load ptr, ptr %v1966, !invariant.load !0
  %v1968 = getelementptr inbounds i8, ptr %v1967, i64 1703936
  %v1969 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1970 = load ptr, ptr %v1969, !invariant.load !0
  %v1971 = getelementptr inbounds i8, ptr %v1970, i64 1736704
  %v1972 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1973 = load ptr, ptr %v1972, !invariant.load !0
  %v1974 = getelementptr inbounds i8, ptr %v1973, i64 1753088
  %v1975 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1976 = load ptr, ptr %v1975, !invariant.load !0
  %v1977 = getelementptr inbounds i8, ptr %v1976, i64 1769472
  call void @tanh_multiply_add_minimum_fusion(ptr %v1932, ptr %v1935, ptr %v1938, ptr %v1941, ptr %v1944, ptr %v1947, ptr %v1950, ptr %v1953, ptr %v1956, ptr %v1959, ptr %v1962, ptr %v1965, ptr %v1968, ptr %v1971, ptr %v1974, ptr %v1977)
  %v1978 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1979 = load ptr, ptr %v1978, !invariant.load !0
  %v1980 = getelementptr inbounds i8, ptr %v1979, i64 3227648
  %v1981 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1982 = load ptr, ptr %v1981, !invariant.load !0
  %v1983 = getelementptr inbounds i8, ptr %v1982, i64 5046272
  %v1984 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1985 = load ptr, ptr %v1984, !invariant.load !0
  %v1986 = getelementptr inbounds i8, ptr %v1985, i64 1556480
  %v1987 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1988 = load ptr, ptr %v1987, !invariant.load !0
  %v1989 = getelementptr inbounds i8, ptr %v1988, i64 4571136
  %v1990 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1991 = load ptr, ptr %v1990, !invariant.load !0
  %v1992 = getelementptr inbounds i8, ptr %v1991, i64 3670016
  %v1993 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1994 = load ptr, ptr %v1993, !invariant.load !0
  %v1995 = getelementptr inbounds i8, ptr %v1994, i64 4472832
  %v1996 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v1997 = load ptr, ptr %v1996, !invariant.load !0
  %v1998 = getelementptr inbounds i8, ptr %v1997, i64 1753088
  %v1999 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2000 = load ptr, ptr %v1999, !invariant.load !0
  %v2001 = getelementptr inbounds i8, ptr %v2000, i64 655360
  %v2002 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2003 = load ptr, ptr %v2002, !invariant.load !0
  %v2004 = getelementptr inbounds i8, ptr %v2003, i64 311296
  %v2005 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2006 = load ptr, ptr %v2005, !invariant.load !0
  %v2007 = getelementptr inbounds i8, ptr %v2006, i64 1785856
  %v2008 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2009 = load ptr, ptr %v2008, !invariant.load !0
  %v2010 = getelementptr inbounds i8, ptr %v2009, i64 1835008
  call void @minimum_multiply_tanh_subtract_fusion(ptr %v1980, ptr %v1983, ptr %v1986, ptr %v1989, ptr %v1992, ptr %v1995, ptr %v1998, ptr %v2001, ptr %v2004, ptr %v2007, ptr %v2010)
  %v2011 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2012 = load ptr, ptr %v2011, !invariant.load !0
  %v2013 = getelementptr inbounds i8, ptr %v2012, i64 2965504
  %v2014 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2015 = load ptr, ptr %v2014, !invariant.load !0
  %v2016 = getelementptr inbounds i8, ptr %v2015, i64 3702784
  %v2017 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2018 = load ptr, ptr %v2017, !invariant.load !0
  %v2019 = getelementptr inbounds i8, ptr %v2018, i64 1196032
  %v2020 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2021 = load ptr, ptr %v2020, !invariant.load !0
  %v2022 = getelementptr inbounds i8, ptr %v2021, i64 5816576
  %v2023 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2024 = load ptr, ptr %v2023, !invariant.load !0
  %v2025 = getelementptr inbounds i8, ptr %v2024, i64 1867776
  %v2026 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2027 = load ptr, ptr %v2026, !invariant.load !0
  %v2028 = getelementptr inbounds i8, ptr %v2027, i64 2260992
  %v2029 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2030 = load ptr, ptr %v2029, !invariant.load !0
  %v2031 = getelementptr inbounds i8, ptr %v2030, i64 311296
  %v2032 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2033 = load ptr, ptr %v2032, !invariant.load !0
  %v2034 = getelementptr inbounds i8, ptr %v2033, i64 2277376
  %v2035 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2036 = load ptr, ptr %v2035, !invariant.load !0
  %v2037 = getelementptr inbounds i8, ptr %v2036, i64 3489792
  %v2038 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2039 = load ptr, ptr %v2038, !invariant.load !0
  %v2040 = getelementptr inbounds i8, ptr %v2039, i64 3670016
  %v2041 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2042 = load ptr, ptr %v2041, !invariant.load !0
  %v2043 = getelementptr inbounds i8, ptr %v2042, i64 4833280
  %v2044 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2045 = load ptr, ptr %v2044, !invariant.load !0
  %v2046 = getelementptr inbounds i8, ptr %v2045, i64 1884160
  %v2047 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2048 = load ptr, ptr %v2047, !invariant.load !0
  %v2049 = getelementptr inbounds i8, ptr %v2048, i64 1916928
  %v2050 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2051 = load ptr, ptr %v2050, !invariant.load !0
  %v2052 = getelementptr inbounds i8, ptr %v2051, i64 1982464
  %v2053 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2054 = load ptr, ptr %v2053, !invariant.load !0
  %v2055 = getelementptr inbounds i8, ptr %v2054, i64 2031616
  %v2056 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2057 = load ptr, ptr %v2056, !invariant.load !0
  %v2058 = getelementptr inbounds i8, ptr %v2057, i64 2097152
  %v2059 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2060 = load ptr, ptr %v2059, !invariant.load !0
  %v2061 = getelementptr inbounds i8, ptr %v2060, i64 2113536
  call void @tanh_maximum_multiply_add_fusion(ptr %v2013, ptr %v2016, ptr %v2019, ptr %v2022, ptr %v2025, ptr %v2028, ptr %v2031, ptr %v2034, ptr %v2037, ptr %v2040, ptr %v2043, ptr %v2046, ptr %v2049, ptr %v2052, ptr %v2055, ptr %v2058, ptr %v2061)
  %v2062 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2063 = load ptr, ptr %v2062, !invariant.load !0
  %v2064 = getelementptr inbounds i8, ptr %v2063, i64 4800512
  %v2065 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2066 = load ptr, ptr %v2065, !invariant.load !0
  %v2067 = getelementptr inbounds i8, ptr %v2066, i64 1277952
  %v2068 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2069 = load ptr, ptr %v2068, !invariant.load !0
  %v2070 = getelementptr inbounds i8, ptr %v2069, i64 2326528
  %v2071 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2072 = load ptr, ptr %v2071, !invariant.load !0
  %v2073 = getelementptr inbounds i8, ptr %v2072, i64 376832
  %v2074 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2075 = load ptr, ptr %v2074, !invariant.load !0
  %v2076 = getelementptr inbounds i8, ptr %v2075, i64 1032192
  %v2077 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2078 = load ptr, ptr %v2077, !invariant.load !0
  %v2079 = getelementptr inbounds i8, ptr %v2078, i64 4751360
  %v2080 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2081 = load ptr, ptr %v2080, !invariant.load !0
  %v2082 = getelementptr inbounds i8, ptr %v2081, i64 4603904
  %v2083 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2084 = load ptr, ptr %v2083, !invariant.load !0
  %v2085 = getelementptr inbounds i8, ptr %v2084, i64 3670016
  %v2086 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2087 = load ptr, ptr %v2086, !invariant.load !0
  %v2088 = getelementptr inbounds i8, ptr %v2087, i64 2113536
  %v2089 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2090 = load ptr, ptr %v2089, !invariant.load !0
  %v2091 = getelementptr inbounds i8, ptr %v2090, i64 311296
  %v2092 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2093 = load ptr, ptr %v2092, !invariant.load !0
  %v2094 = getelementptr inbounds i8, ptr %v2093, i64 2228224
  %v2095 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2096 = load ptr, ptr %v2095, !invariant.load !0
  %v2097 = getelementptr inbounds i8, ptr %v2096, i64 2244608
  call void @tanh_add_maximum_multiply_fusion(ptr %v2064, ptr %v2067, ptr %v2070, ptr %v2073, ptr %v2076, ptr %v2079, ptr %v2082, ptr %v2085, ptr %v2088, ptr %v2091, ptr %v2094, ptr %v2097)
  %v2098 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2099 = load ptr, ptr %v2098, !invariant.load !0
  %v2100 = getelementptr inbounds i8, ptr %v2099, i64 5013504
  %v2101 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2102 = load ptr, ptr %v2101, !invariant.load !0
  %v2103 = getelementptr inbounds i8, ptr %v2102, i64 1540096
  %v2104 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2105 = load ptr, ptr %v2104, !invariant.load !0
  %v2106 = getelementptr inbounds i8, ptr %v2105, i64 180224
  %v2107 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2108 = load ptr, ptr %v2107, !invariant.load !0
  %v2109 = getelementptr inbounds i8, ptr %v2108, i64 4505600
  %v2110 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2111 = load ptr, ptr %v2110, !invariant.load !0
  %v2112 = getelementptr inbounds i8, ptr %v2111, i64 2965504
  %v2113 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2114 = load ptr, ptr %v2113, !invariant.load !0
  %v2115 = getelementptr inbounds i8, ptr %v2114, i64 4947968
  %v2116 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2117 = load ptr, ptr %v2116, !invariant.load !0
  %v2118 = getelementptr inbounds i8, ptr %v2117, i64 4194304
  %v2119 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2120 = load ptr, ptr %v2119, !invariant.load !0
  %v2121 = getelementptr inbounds i8, ptr %v2120, i64 4440064
  %v2122 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2123 = load ptr, ptr %v2122, !invariant.load !0
  %v2124 = getelementptr inbounds i8, ptr %v2123, i64 344064
  %v2125 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2126 = load ptr, ptr %v2125, !invariant.load !0
  %v2127 = getelementptr inbounds i8, ptr %v2126, i64 5032192
  %v2128 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2129 = load ptr, ptr %v2128, !invariant.load !0
  %v2130 = getelementptr inbounds i8, ptr %v2129, i64 4800512
  %v2131 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2132 = load ptr, ptr %v2131, !invariant.load !0
  %v2133 = getelementptr inbounds i8, ptr %v2132, i64 2310144
  %v2134 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2135 = load ptr, ptr %v2134, !invariant.load !0
  %v2136 = getelementptr inbounds i8, ptr %v2135, i64 2342912
  %v2137 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2138 = load ptr, ptr %v2137, !invariant.load !0
  %v2139 = getelementptr inbounds i8, ptr %v2138, i64 2637824
  %v2140 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2141 = load ptr, ptr %v2140, !invariant.load !0
  %v2142 = getelementptr inbounds i8, ptr %v2141, i64 2654208
  %v2143 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2144 = load ptr, ptr %v2143, !invariant.load !0
  %v2145 = getelementptr inbounds i8, ptr %v2144, i64 2703360
  call void @multiply_tanh_minimum_add_fusion_1(ptr %v2100, ptr %v2103, ptr %v2106, ptr %v2109, ptr %v2112, ptr %v2115, ptr %v2118, ptr %v2121, ptr %v2124, ptr %v2127, ptr %v2130, ptr %v2133, ptr %v2136, ptr %v2139, ptr %v2142, ptr %v2145)
  %v2146 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2147 = load ptr, ptr %v2146, !invariant.load !0
  %v2148 = getelementptr inbounds i8, ptr %v2147, i64 4603904
  %v2149 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2150 = load ptr, ptr %v2149, !invariant.load !0
  %v2151 = getelementptr inbounds i8, ptr %v2150, i64 1048576
  %v2152 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2153 = load ptr, ptr %v2152, !invariant.load !0
  %v2154 = getelementptr inbounds i8, ptr %v2153, i64 1802240
  %v2155 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2156 = load ptr, ptr %v2155, !invariant.load !0
  %v2157 = getelementptr inbounds i8, ptr %v2156, i64 2080768
  %v2158 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2159 = load ptr, ptr %v2158, !invariant.load !0
  %v2160 = getelementptr inbounds i8, ptr %v2159, i64 1818624
  %v2161 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2162 = load ptr, ptr %v2161, !invariant.load !0
  %v2163 = getelementptr inbounds i8, ptr %v2162, i64 638976
  %v2164 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2165 = load ptr, ptr %v2164, !invariant.load !0
  %v2166 = getelementptr inbounds i8, ptr %v2165, i64 4505600
  %v2167 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2168 = load ptr, ptr %v2167, !invariant.load !0
  %v2169 = getelementptr inbounds i8, ptr %v2168, i64 507904
  %v2170 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2171 = load ptr, ptr %v2170, !invariant.load !0
  %v2172 = getelementptr inbounds i8, ptr %v2171, i64 2555904
  %v2173 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2174 = load ptr, ptr %v2173, !invariant.load !0
  %v2175 = getelementptr inbounds i8, ptr %v2174, i64 3211776
  %v2176 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2177 = load ptr, ptr %v2176, !invariant.load !0
  %v2178 = getelementptr inbounds i8, ptr %v2177, i64 4145152
  %v2179 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2180 = load ptr, ptr %v2179, !invariant.load !0
  %v2181 = getelementptr inbounds i8, ptr %v2180, i64 1540096
  %v2182 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2183 = load ptr, ptr %v2182, !invariant.load !0
  %v2184 = getelementptr inbounds i8, ptr %v2183, i64 5586944
  %v2185 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2186 = load ptr, ptr %v2185, !invariant.load !0
  %v2187 = getelementptr inbounds i8, ptr %v2186, i64 2719744
  call void @maximum_multiply_tanh_fusion_4(ptr %v2148, ptr %v2151, ptr %v2154, ptr %v2157, ptr %v2160, ptr %v2163, ptr %v2166, ptr %v2169, ptr %v2172, ptr %v2175, ptr %v2178, ptr %v2181, ptr %v2184, ptr %v2187)
  %v2188 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2189 = load ptr, ptr %v2188, !invariant.load !0
  %v2190 = getelementptr inbounds i8, ptr %v2189, i64 2473984
  %v2191 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2192 = load ptr, ptr %v2191, !invariant.load !0
  %v2193 = getelementptr inbounds i8, ptr %v2192, i64 2949120
  %v2194 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2195 = load ptr, ptr %v2194, !invariant.load !0
  %v2196 = getelementptr inbounds i8, ptr %v2195, i64 3915776
  %v2197 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2198 = load ptr, ptr %v2197, !invariant.load !0
  %v2199 = getelementptr inbounds i8, ptr %v2198, i64 4947968
  %v2200 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2201 = load ptr, ptr %v2200, !invariant.load !0
  %v2202 = getelementptr inbounds i8, ptr %v2201, i64 638976
  %v2203 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2204 = load ptr, ptr %v2203, !invariant.load !0
  %v2205 = getelementptr inbounds i8, ptr %v2204, i64 1835008
  %v2206 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2207 = load ptr, ptr %v2206, !invariant.load !0
  %v2208 = getelementptr inbounds i8, ptr %v2207, i64 2228224
  %v2209 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2210 = load ptr, ptr %v2209, !invariant.load !0
  %v2211 = getelementptr inbounds i8, ptr %v2210, i64 2736128
  %v2212 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2213 = load ptr, ptr %v2212, !invariant.load !0
  %v2214 = getelementptr inbounds i8, ptr %v2213, i64 2850816
  %v2215 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2216 = load ptr, ptr %v2215, !invariant.load !0
  %v2217 = getelementptr inbounds i8, ptr %v2216, i64 3031040
  %v2218 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2219 = load ptr, ptr %v2218, !invariant.load !0
  %v2220 = getelementptr inbounds i8, ptr %v2219, i64 3096576
  %v2221 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2222 = load ptr, ptr %v2221, !invariant.load !0
  %v2223 = getelementptr inbounds i8, ptr %v2222, i64 3145728
  %v2224 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2225 = load ptr, ptr %v2224, !invariant.load !0
  %v2226 = getelementptr inbounds i8, ptr %v2225, i64 3162112
  %v2227 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2228 = load ptr, ptr %v2227, !invariant.load !0
  %v2229 = getelementptr inbounds i8, ptr %v2228, i64 3178496
  call void @multiply_tanh_maximum_fusion_6(ptr %v2190, ptr %v2193, ptr %v2196, ptr %v2199, ptr %v2202, ptr %v2205, ptr %v2208, ptr %v2211, ptr %v2214, ptr %v2217, ptr %v2220, ptr %v2223, ptr %v2226, ptr %v2229)
  ret i32 0
}

define hidden i32 @xe_entry_part2(ptr noalias %arguments) nounwind optnone noinline "optimization-level"="final" {
entry:
  %slot2425 = alloca ptr, i64 63, align 64
  %slot3085 = alloca ptr, i64 63, align 64
  %v2230 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2231 = load ptr, ptr %v2230, !invariant.load !0
  %v2232 = getelementptr inbounds i8, ptr %v2231, i64 4538368
  %v2233 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2234 = load ptr, ptr %v2233, !invariant.load !0
  %v2235 = getelementptr inbounds i8, ptr %v2234, i64 4947968
  %v2236 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2237 = load ptr, ptr %v2236, !invariant.load !0
  %v2238 = getelementptr inbounds i8, ptr %v2237, i64 3194880
  call void @d73(ptr %v2232, ptr %v2235, ptr %v2238)
  %v2239 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2240 = load ptr, ptr %v2239, !invariant.load !0
  %v2241 = getelementptr inbounds i8, ptr %v2240, i64 229376
  %v2242 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2243 = load ptr, ptr %v2242, !invariant.load !0
  %v2244 = getelementptr inbounds i8, ptr %v2243, i64 1572864
  %v2245 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2246 = load ptr, ptr %v2245, !invariant.load !0
  %v2247 = getelementptr inbounds i8, ptr %v2246, i64 3637248
  %v2248 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2249 = load ptr, ptr %v2248, !invariant.load !0
  %v2250 = getelementptr inbounds i8, ptr %v2249, i64 589824
  %v2251 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2252 = load ptr, ptr %v2251, !invariant.load !0
  %v2253 = getelementptr inbounds i8, ptr %v2252, i64 835584
  %v2254 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2255 = load ptr, ptr %v2254, !invariant.load !0
  %v2256 = getelementptr inbounds i8, ptr %v2255, i64 3899392
  %v2257 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2258 = load ptr, ptr %v2257, !invariant.load !0
  %v2259 = getelementptr inbounds i8, ptr %v2258, i64 1851392
  %v2260 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2261 = load ptr, ptr %v2260, !invariant.load !0
  %v2262 = getelementptr inbounds i8, ptr %v2261, i64 2572288
  %v2263 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2264 = load ptr, ptr %v2263, !invariant.load !0
  %v2265 = getelementptr inbounds i8, ptr %v2264, i64 196608
  %v2266 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2267 = load ptr, ptr %v2266, !invariant.load !0
  %v2268 = getelementptr inbounds i8, ptr %v2267, i64 2260992
  %v2269 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2270 = load ptr, ptr %v2269, !invariant.load !0
  %v2271 = getelementptr inbounds i8, ptr %v2270, i64 2146304
  %v2272 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2273 = load ptr, ptr %v2272, !invariant.load !0
  %v2274 = getelementptr inbounds i8, ptr %v2273, i64 16384
  %v2275 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2276 = load ptr, ptr %v2275, !invariant.load !0
  %v2277 = getelementptr inbounds i8, ptr %v2276, i64 147456
  %v2278 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2279 = load ptr, ptr %v2278, !invariant.load !0
  %v2280 = getelementptr inbounds i8, ptr %v2279, i64 5032960
  %v2281 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2282 = load ptr, ptr %v2281, !invariant.load !0
  %v2283 = getelementptr inbounds i8, ptr %v2282, i64 3735552
  %v2284 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2285 = load ptr, ptr %v2284, !invariant.load !0
  %v2286 = getelementptr inbounds i8, ptr %v2285, i64 1998848
  %v2287 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2288 = load ptr, ptr %v2287, !invariant.load !0
  %v2289 = getelementptr inbounds i8, ptr %v2288, i64 163840
  %v2290 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2291 = load ptr, ptr %v2290, !invariant.load !0
  %v2292 = getelementptr inbounds i8, ptr %v2291, i64 3211520
  %v2293 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2294 = load ptr, ptr %v2293, !invariant.load !0
  %v2295 = getelementptr inbounds i8, ptr %v2294, i64 3915776
  %v2296 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2297 = load ptr, ptr %v2296, !invariant.load !0
  %v2298 = getelementptr inbounds i8, ptr %v2297, i64 3112960
  %v2299 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2300 = load ptr, ptr %v2299, !invariant.load !0
  %v2301 = getelementptr inbounds i8, ptr %v2300, i64 4505600
  %v2302 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2303 = load ptr, ptr %v2302, !invariant.load !0
  %v2304 = getelementptr inbounds i8, ptr %v2303, i64 32768
  %v2305 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2306 = load ptr, ptr %v2305, !invariant.load !0
  %v2307 = getelementptr inbounds i8, ptr %v2306, i64 540672
  %v2308 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2309 = load ptr, ptr %v2308, !invariant.load !0
  %v2310 = getelementptr inbounds i8, ptr %v2309, i64 3964928
  %v2311 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2312 = load ptr, ptr %v2311, !invariant.load !0
  %v2313 = getelementptr inbounds i8, ptr %v2312, i64 3506176
  %v2314 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2315 = load ptr, ptr %v2314, !invariant.load !0
  %v2316 = getelementptr inbounds i8, ptr %v2315, i64 3194880
  %v2317 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2318 = load ptr, ptr %v2317, !invariant.load !0
  %v2319 = getelementptr inbounds i8, ptr %v2318, i64 1507328
  %v2320 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2321 = load ptr, ptr %v2320, !invariant.load !0
  %v2322 = getelementptr inbounds i8, ptr %v2321, i64 770048
  %v2323 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2324 = load ptr, ptr %v2323, !invariant.load !0
  %v2325 = getelementptr inbounds i8, ptr %v2324, i64 2129920
  %v2326 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2327 = load ptr, ptr %v2326, !invariant.load !0
  %v2328 = getelementptr inbounds i8, ptr %v2327, i64 4276224
  %v2329 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2330 = load ptr, ptr %v2329, !invariant.load !0
  %v2331 = getelementptr inbounds i8, ptr %v2330, i64 3784704
  %v2332 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2333 = load ptr, ptr %v2332, !invariant.load !0
  %v2334 = getelementptr inbounds i8, ptr %v2333, i64 3833856
  %v2335 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2336 = load ptr, ptr %v2335, !invariant.load !0
  %v2337 = getelementptr inbounds i8, ptr %v2336, i64 278528
  %v2338 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2339 = load ptr, ptr %v2338, !invariant.load !0
  %v2340 = getelementptr inbounds i8, ptr %v2339, i64 2834432
  %v2341 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2342 = load ptr, ptr %v2341, !invariant.load !0
  %v2343 = getelementptr inbounds i8, ptr %v2342, i64 2473984
  %v2344 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2345 = load ptr, ptr %v2344, !invariant.load !0
  %v2346 = getelementptr inbounds i8, ptr %v2345, i64 507904
  %v2347 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2348 = load ptr, ptr %v2347, !invariant.load !0
  %v2349 = getelementptr inbounds i8, ptr %v2348, i64 3801088
  %v2350 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2351 = load ptr, ptr %v2350, !invariant.load !0
  %v2352 = getelementptr inbounds i8, ptr %v2351, i64 1114112
  %v2353 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2354 = load ptr, ptr %v2353, !invariant.load !0
  %v2355 = getelementptr inbounds i8, ptr %v2354, i64 2867200
  %v2356 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2357 = load ptr, ptr %v2356, !invariant.load !0
  %v2358 = getelementptr inbounds i8, ptr %v2357, i64 5033728
  %v2359 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2360 = load ptr, ptr %v2359, !invariant.load !0
  %v2361 = getelementptr inbounds i8, ptr %v2360, i64 1949696
  %v2362 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2363 = load ptr, ptr %v2362, !invariant.load !0
  %v2364 = getelementptr inbounds i8, ptr %v2363, i64 5032192
  %v2365 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2366 = load ptr, ptr %v2365, !invariant.load !0
  %v2367 = getelementptr inbounds i8, ptr %v2366, i64 4161536
  %v2368 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2369 = load ptr, ptr %v2368, !invariant.load !0
  %v2370 = getelementptr inbounds i8, ptr %v2369, i64 3522560
  %v2371 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2372 = load ptr, ptr %v2371, !invariant.load !0
  %v2373 = getelementptr inbounds i8, ptr %v2372, i64 3014656
  %v2374 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2375 = load ptr, ptr %v2374, !invariant.load !0
  %v2376 = getelementptr inbounds i8, ptr %v2375, i64 3375104
  %v2377 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2378 = load ptr, ptr %v2377, !invariant.load !0
  %v2379 = getelementptr inbounds i8, ptr %v2378, i64 2162688
  %v2380 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2381 = load ptr, ptr %v2380, !invariant.load !0
  %v2382 = getelementptr inbounds i8, ptr %v2381, i64 3227648
  %v2383 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2384 = load ptr, ptr %v2383, !invariant.load !0
  %v2385 = getelementptr inbounds i8, ptr %v2384, i64 3047424
  %v2386 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2387 = load ptr, ptr %v2386, !invariant.load !0
  %v2388 = getelementptr inbounds i8, ptr %v2387, i64 2064384
  %v2389 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2390 = load ptr, ptr %v2389, !invariant.load !0
  %v2391 = getelementptr inbounds i8, ptr %v2390, i64 2424832
  %v2392 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2393 = load ptr, ptr %v2392, !invariant.load !0
  %v2394 = getelementptr inbounds i8, ptr %v2393, i64 1441792
  %v2395 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2396 = load ptr, ptr %v2395, !invariant.load !0
  %v2397 = getelementptr inbounds i8, ptr %v2396, i64 2670592
  %v2398 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2399 = load ptr, ptr %v2398, !invariant.load !0
  %v2400 = getelementptr inbounds i8, ptr %v2399, i64 3555328
  %v2401 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2402 = load ptr, ptr %v2401, !invariant.load !0
  %v2403 = getelementptr inbounds i8, ptr %v2402, i64 4210688
  %v2404 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2405 = load ptr, ptr %v2404, !invariant.load !0
  %v2406 = getelementptr inbounds i8, ptr %v2405, i64 3424256
  %v2407 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2408 = load ptr, ptr %v2407, !invariant.load !0
  %v2409 = getelementptr inbounds i8, ptr %v2408, i64 98304
  %v2410 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2411 = load ptr, ptr %v2410, !invariant.load !0
  %v2412 = getelementptr inbounds i8, ptr %v2411, i64 1409024
  %v2413 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2414 = load ptr, ptr %v2413, !invariant.load !0
  %v2415 = getelementptr inbounds i8, ptr %v2414, i64 4554752
  %v2416 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2417 = load ptr, ptr %v2416, !invariant.load !0
  %v2418 = getelementptr inbounds i8, ptr %v2417, i64 1294336
  %v2419 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2420 = load ptr, ptr %v2419, !invariant.load !0
  %v2421 = getelementptr inbounds i8, ptr %v2420, i64 5033216
  %v2422 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2423 = load ptr, ptr %v2422, !invariant.load !0
  %v2424 = getelementptr inbounds i8, ptr %v2423, i64 786432
  %v2426 = getelementptr inbounds ptr, ptr %slot2425, i64 0
  store ptr %v2241, ptr %v2426, align 8
  %v2427 = getelementptr inbounds ptr, ptr %slot2425, i64 1
  store ptr %v2244, ptr %v2427, align 8
  %v2428 = getelementptr inbounds ptr, ptr %slot2425, i64 2
  store ptr %v2247, ptr %v2428, align 8
  %v2429 = getelementptr inbounds ptr, ptr %slot2425, i64 3
  store ptr %v2250, ptr %v2429, align 8
  %v2430 = getelementptr inbounds ptr, ptr %slot2425, i64 4
  store ptr %v2253, ptr %v2430, align 8
  %v2431 = getelementptr inbounds ptr, ptr %slot2425, i64 5
  store ptr %v2256, ptr %v2431, align 8
  %v2432 = getelementptr inbounds ptr, ptr %slot2425, i64 6
  store ptr %v2259, ptr %v2432, align 8
  %v2433 = getelementptr inbounds ptr, ptr %slot2425, i64 7
  store ptr %v2262, ptr %v2433, align 8
  %v2434 = getelementptr inbounds ptr, ptr %slot2425, i64 8
  store ptr %v2265, ptr %v2434, align 8
  %v2435 = getelementptr inbounds ptr, ptr %slot2425, i64 9
  store ptr %v2268, ptr %v2435, align 8
  %v2436 = getelementptr inbounds ptr, ptr %slot2425, i64 10
  store ptr %v2271, ptr %v2436, align 8
  %v2437 = getelementptr inbounds ptr, ptr %slot2425, i64 11
  store ptr %v2274, ptr %v2437, align 8
  %v2438 = getelementptr inbounds ptr, ptr %slot2425, i64 12
  store ptr %v2277, ptr %v2438, align 8
  %v2439 = getelementptr inbounds ptr, ptr %slot2425, i64 13
  store ptr %v2280, ptr %v2439, align 8
  %v2440 = getelementptr inbounds ptr, ptr %slot2425, i64 14
  store ptr %v2283, ptr %v2440, align 8
  %v2441 = getelementptr inbounds ptr, ptr %slot2425, i64 15
  store ptr %v2286, ptr %v2441, align 8
  %v2442 = getelementptr inbounds ptr, ptr %slot2425, i64 16
  store ptr %v2289, ptr %v2442, align 8
  %v2443 = getelementptr inbounds ptr, ptr %slot2425, i64 17
  store ptr %v2292, ptr %v2443, align 8
  %v2444 = getelementptr inbounds ptr, ptr %slot2425, i64 18
  store ptr %v2295, ptr %v2444, align 8
  %v2445 = getelementptr inbounds ptr, ptr %slot2425, i64 19
  store ptr %v2298, ptr %v2445, align 8
  %v2446 = getelementptr inbounds ptr, ptr %slot2425, i64 20
  store ptr %v2301, ptr %v2446, align 8
  %v2447 = getelementptr inbounds ptr, ptr %slot2425, i64 21
  store ptr %v2304, ptr %v2447, align 8
  %v2448 = getelementptr inbounds ptr, ptr %slot2425, i64 22
  store ptr %v2307, ptr %v2448, align 8
  %v2449 = getelementptr inbounds ptr, ptr %slot2425, i64 23
  store ptr %v2310, ptr %v2449, align 8
  %v2450 = getelementptr inbounds ptr, ptr %slot2425, i64 24
  store ptr %v2313, ptr %v2450, align 8
  %v2451 = getelementptr inbounds ptr, ptr %slot2425, i64 25
  store ptr %v2316, ptr %v2451, align 8
  %v2452 = getelementptr inbounds ptr, ptr %slot2425, i64 26
  store ptr %v2319, ptr %v2452, align 8
  %v2453 = getelementptr inbounds ptr, ptr %slot2425, i64 27
  store ptr %v2322, ptr %v2453, align 8
  %v2454 = getelementptr inbounds ptr, ptr %slot2425, i64 28
  store ptr %v2325, ptr %v2454, align 8
  %v2455 = getelementptr inbounds ptr, ptr %slot2425, i64 29
  store ptr %v2328, ptr %v2455, align 8
  %v2456 = getelementptr inbounds ptr, ptr %slot2425, i64 30
  store ptr %v2331, ptr %v2456, align 8
  %v2457 = getelementptr inbounds ptr, ptr %slot2425, i64 31
  store ptr %v2334, ptr %v2457, align 8
  %v2458 = getelementptr inbounds ptr, ptr %slot2425, i64 32
  store ptr %v2337, ptr %v2458, align 8
  %v2459 = getelementptr inbounds ptr, ptr %slot2425, i64 33
  store ptr %v2340, ptr %v2459, align 8
  %v2460 = getelementptr inbounds ptr, ptr %slot2425, i64 34
  store ptr %v2343, ptr %v2460, align 8
  %v2461 = getelementptr inbounds ptr, ptr %slot2425, i64 35
  store ptr %v2346, ptr %v2461, align 8
  %v2462 = getelementptr inbounds ptr, ptr %slot2425, i64 36
  store ptr %v2349, ptr %v2462, align 8
  %v2463 = getelementptr inbounds ptr, ptr %slot2425, i64 37
  store ptr %v2352, ptr %v2463, align 8
  %v2464 = getelementptr inbounds ptr, ptr %slot2425, i64 38
  store ptr %v2355, ptr %v2464, align 8
  %v2465 = getelementptr inbounds ptr, ptr %slot2425, i64 39
  store ptr %v2358, ptr %v2465, align 8
  %v2466 = getelementptr inbounds ptr, ptr %slot2425, i64 40
  store ptr %v2361, ptr %v2466, align 8
  %v2467 = getelementptr inbounds ptr, ptr %slot2425, i64 41
  store ptr %v2364, ptr %v2467, align 8
  %v2468 = getelementptr inbounds ptr, ptr %slot2425, i64 42
  store ptr %v2367, ptr %v2468, align 8
  %v2469 = getelementptr inbounds ptr, ptr %slot2425, i64 43
  store ptr %v2370, ptr %v2469, align 8
  %v2470 = getelementptr inbounds ptr, ptr %slot2425, i64 44
  store ptr %v2373, ptr %v2470, align 8
  %v2471 = getelementptr inbounds ptr, ptr %slot2425, i64 45
  store ptr %v2376, ptr %v2471, align 8
  %v2472 = getelementptr inbounds ptr, ptr %slot2425, i64 46
  store ptr %v2379, ptr %v2472, align 8
  %v2473 = getelementptr inbounds ptr, ptr %slot2425, i64 47
  store ptr %v2382, ptr %v2473, align 8
  %v2474 = getelementptr inbounds ptr, ptr %slot2425, i64 48
  store ptr %v2385, ptr %v2474, align 8
  %v2475 = getelementptr inbounds ptr, ptr %slot2425, i64 49
  store ptr %v2388, ptr %v2475, align 8
  %v2476 = getelementptr inbounds ptr, ptr %slot2425, i64 50
  store ptr %v2391, ptr %v2476, align 8
  %v2477 = getelementptr inbounds ptr, ptr %slot2425, i64 51
  store ptr %v2394, ptr %v2477, align 8
  %v2478 = getelementptr inbounds ptr, ptr %slot2425, i64 52
  store ptr %v2397, ptr %v2478, align 8
  %v2479 = getelementptr inbounds ptr, ptr %slot2425, i64 53
  store ptr %v2400, ptr %v2479, align 8
  %v2480 = getelementptr inbounds ptr, ptr %slot2425, i64 54
  store ptr %v2403, ptr %v2480, align 8
  %v2481 = getelementptr inbounds ptr, ptr %slot2425, i64 55
  store ptr %v2406, ptr %v2481, align 8
  %v2482 = getelementptr inbounds ptr, ptr %slot2425, i64 56
  store ptr %v2409, ptr %v2482, align 8
  %v2483 = getelementptr inbounds ptr, ptr %slot2425, i64 57
  store ptr %v2412, ptr %v2483, align 8
  %v2484 = getelementptr inbounds ptr, ptr %slot2425, i64 58
  store ptr %v2415, ptr %v2484, align 8
  %v2485 = getelementptr inbounds ptr, ptr %slot2425, i64 59
  store ptr %v2418, ptr %v2485, align 8
  %v2486 = getelementptr inbounds ptr, ptr %slot2425, i64 60
  store ptr %v2421, ptr %v2486, align 8
  %v2487 = getelementptr inbounds ptr, ptr %slot2425, i64 61
  store ptr %v2424, ptr %v2487, align 8
  call void @xla_explorer_parallel_for(ptr @multiply_minimum_add_fusion_3_task, ptr %slot2425, i64 3)
  %v2488 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2489 = load ptr, ptr %v2488, !invariant.load !0
  %v2490 = getelementptr inbounds i8, ptr %v2489, i64 3342336
  %v2491 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2492 = load ptr, ptr %v2491, !invariant.load !0
  %v2493 = getelementptr inbounds i8, ptr %v2492, i64 475136
  %v2494 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2495 = load ptr, ptr %v2494, !invariant.load !0
  %v2496 = getelementptr inbounds i8, ptr %v2495, i64 1474560
  %v2497 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2498 = load ptr, ptr %v2497, !invariant.load !0
  %v2499 = getelementptr inbounds i8, ptr %v2498, i64 983040
  call void @add_multiply_minimum_fusion_10(ptr %v2490, ptr %v2493, ptr %v2496, ptr %v2499)
  %v2500 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2501 = load ptr, ptr %v2500, !invariant.load !0
  %v2502 = getelementptr inbounds i8, ptr %v2501, i64 3735552
  %v2503 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2504 = load ptr, ptr %v2503, !invariant.load !0
  %v2505 = getelementptr inbounds i8, ptr %v2504, i64 3211264
  %v2506 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2507 = load ptr, ptr %v2506, !invariant.load !0
  %v2508 = getelementptr inbounds i8, ptr %v2507, i64 999424
  %v2509 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2510 = load ptr, ptr %v2509, !invariant.load !0
  %v2511 = getelementptr inbounds i8, ptr %v2510, i64 851968
  %v2512 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2513 = load ptr, ptr %v2512, !invariant.load !0
  %v2514 = getelementptr inbounds i8, ptr %v2513, i64 2441216
  %v2515 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2516 = load ptr, ptr %v2515, !invariant.load !0
  %v2517 = getelementptr inbounds i8, ptr %v2516, i64 3293184
  %v2518 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2519 = load ptr, ptr %v2518, !invariant.load !0
  %v2520 = getelementptr inbounds i8, ptr %v2519, i64 5947392
  %v2521 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2522 = load ptr, ptr %v2521, !invariant.load !0
  %v2523 = getelementptr inbounds i8, ptr %v2522, i64 1966080
  %v2524 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2525 = load ptr, ptr %v2524, !invariant.load !0
  %v2526 = getelementptr inbounds i8, ptr %v2525, i64 2080768
  %v2527 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2528 = load ptr, ptr %v2527, !invariant.load !0
  %v2529 = getelementptr inbounds i8, ptr %v2528, i64 1900544
  %v2530 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2531 = load ptr, ptr %v2530, !invariant.load !0
  %v2532 = getelementptr inbounds i8, ptr %v2531, i64 409600
  call void @tanh_multiply_add_fusion_4(ptr %v2502, ptr %v2505, ptr %v2508, ptr %v2511, ptr %v2514, ptr %v2517, ptr %v2520, ptr %v2523, ptr %v2526, ptr %v2529, ptr %v2532)
  %v2533 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2534 = load ptr, ptr %v2533, !invariant.load !0
  %v2535 = getelementptr inbounds i8, ptr %v2534, i64 2801664
  %v2536 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2537 = load ptr, ptr %v2536, !invariant.load !0
  %v2538 = getelementptr inbounds i8, ptr %v2537, i64 131072
  %v2539 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2540 = load ptr, ptr %v2539, !invariant.load !0
  %v2541 = getelementptr inbounds i8, ptr %v2540, i64 16384
  call void @d73(ptr %v2535, ptr %v2538, ptr %v2541)
  %v2542 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2543 = load ptr, ptr %v2542, !invariant.load !0
  %v2544 = getelementptr inbounds i8, ptr %v2543, i64 5816576
  call void @wrapped_tanh_540(ptr %v2544)
  %v2545 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2546 = load ptr, ptr %v2545, !invariant.load !0
  %v2547 = getelementptr inbounds i8, ptr %v2546, i64 393216
  %v2548 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2549 = load ptr, ptr %v2548, !invariant.load !0
  %v2550 = getelementptr inbounds i8, ptr %v2549, i64 4784128
  %v2551 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2552 = load ptr, ptr %v2551, !invariant.load !0
  %v2553 = getelementptr inbounds i8, ptr %v2552, i64 4571136
  %v2554 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2555 = load ptr, ptr %v2554, !invariant.load !0
  %v2556 = getelementptr inbounds i8, ptr %v2555, i64 3620864
  %v2557 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2558 = load ptr, ptr %v2557, !invariant.load !0
  %v2559 = getelementptr inbounds i8, ptr %v2558, i64 2113536
  %v2560 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2561 = load ptr, ptr %v2560, !invariant.load !0
  %v2562 = getelementptr inbounds i8, ptr %v2561, i64 1884160
  %v2563 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2564 = load ptr, ptr %v2563, !invariant.load !0
  %v2565 = getelementptr inbounds i8, ptr %v2564, i64 1343488
  %v2566 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2567 = load ptr, ptr %v2566, !invariant.load !0
  %v2568 = getelementptr inbounds i8, ptr %v2567, i64 4767744
  %v2569 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2570 = load ptr, ptr %v2569, !invariant.load !0
  %v2571 = getelementptr inbounds i8, ptr %v2570, i64 3293184
  %v2572 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2573 = load ptr, ptr %v2572, !invariant.load !0
  %v2574 = getelementptr inbounds i8, ptr %v2573, i64 32768
  %v2575 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2576 = load ptr, ptr %v2575, !invariant.load !0
  %v2577 = getelementptr inbounds i8, ptr %v2576, i64 98304
  %v2578 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2579 = load ptr, ptr %v2578, !invariant.load !0
  %v2580 = getelementptr inbounds i8, ptr %v2579, i64 131072
  %v2581 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2582 = load ptr, ptr %v2581, !invariant.load !0
  %v2583 = getelementptr inbounds i8, ptr %v2582, i64 163840
  %v2584 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2585 = load ptr, ptr %v2584, !invariant.load !0
  %v2586 = getelementptr inbounds i8, ptr %v2585, i64 196608
  %v2587 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2588 = load ptr, ptr %v2587, !invariant.load !0
  %v2589 = getelementptr inbounds i8, ptr %v2588, i64 409600
  %v2590 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2591 = load ptr, ptr %v2590, !invariant.load !0
  %v2592 = getelementptr inbounds i8, ptr %v2591, i64 475136
  %v2593 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2594 = load ptr, ptr %v2593, !invariant.load !0
  %v2595 = getelementptr inbounds i8, ptr %v2594, i64 507904
  call void @tanh_multiply_maximum_subtract_fusion_1(ptr %v2547, ptr %v2550, ptr %v2553, ptr %v2556, ptr %v2559, ptr %v2562, ptr %v2565, ptr %v2568, ptr %v2571, ptr %v2574, ptr %v2577, ptr %v2580, ptr %v2583, ptr %v2586, ptr %v2589, ptr %v2592, ptr %v2595)
  %v2596 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2597 = load ptr, ptr %v2596, !invariant.load !0
  %v2598 = getelementptr inbounds i8, ptr %v2597, i64 2490368
  %v2599 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2600 = load ptr, ptr %v2599, !invariant.load !0
  %v2601 = getelementptr inbounds i8, ptr %v2600, i64 2686976
  %v2602 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2603 = load ptr, ptr %v2602, !invariant.load !0
  %v2604 = getelementptr inbounds i8, ptr %v2603, i64 3555328
  %v2605 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2606 = load ptr, ptr %v2605, !invariant.load !0
  %v2607 = getelementptr inbounds i8, ptr %v2606, i64 3538944
  %v2608 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2609 = load ptr, ptr %v2608, !invariant.load !0
  %v2610 = getelementptr inbounds i8, ptr %v2609, i64 966656
  %v2611 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2612 = load ptr, ptr %v2611, !invariant.load !0
  %v2613 = getelementptr inbounds i8, ptr %v2612, i64 3571712
  %v2614 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2615 = load ptr, ptr %v2614, !invariant.load !0
  %v2616 = getelementptr inbounds i8, ptr %v2615, i64 98304
  %v2617 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2618 = load ptr, ptr %v2617, !invariant.load !0
  %v2619 = getelementptr inbounds i8, ptr %v2618, i64 901120
  %v2620 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2621 = load ptr, ptr %v2620, !invariant.load !0
  %v2622 = getelementptr inbounds i8, ptr %v2621, i64 2719744
  %v2623 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2624 = load ptr, ptr %v2623, !invariant.load !0
  %v2625 = getelementptr inbounds i8, ptr %v2624, i64 540672
  %v2626 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2627 = load ptr, ptr %v2626, !invariant.load !0
  %v2628 = getelementptr inbounds i8, ptr %v2627, i64 770048
  %v2629 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2630 = load ptr, ptr %v2629, !invariant.load !0
  %v2631 = getelementptr inbounds i8, ptr %v2630, i64 786432
  %v2632 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2633 = load ptr, ptr %v2632, !invariant.load !0
  %v2634 = getelementptr inbounds i8, ptr %v2633, i64 835584
  %v2635 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2636 = load ptr, ptr %v2635, !invariant.load !0
  %v2637 = getelementptr inbounds i8, ptr %v2636, i64 983040
  %v2638 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2639 = load ptr, ptr %v2638, !invariant.load !0
  %v2640 = getelementptr inbounds i8, ptr %v2639, i64 1294336
  call void @tanh_multiply_minimum_maximum_fusion_2(ptr %v2598, ptr %v2601, ptr %v2604, ptr %v2607, ptr %v2610, ptr %v2613, ptr %v2616, ptr %v2619, ptr %v2622, ptr %v2625, ptr %v2628, ptr %v2631, ptr %v2634, ptr %v2637, ptr %v2640)
  %v2641 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2642 = load ptr, ptr %v2641, !invariant.load !0
  %v2643 = getelementptr inbounds i8, ptr %v2642, i64 1015808
  %v2644 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2645 = load ptr, ptr %v2644, !invariant.load !0
  %v2646 = getelementptr inbounds i8, ptr %v2645, i64 3850240
  %v2647 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2648 = load ptr, ptr %v2647, !invariant.load !0
  %v2649 = getelementptr inbounds i8, ptr %v2648, i64 2392064
  %v2650 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2651 = load ptr, ptr %v2650, !invariant.load !0
  %v2652 = getelementptr inbounds i8, ptr %v2651, i64 966656
  %v2653 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2654 = load ptr, ptr %v2653, !invariant.load !0
  %v2655 = getelementptr inbounds i8, ptr %v2654, i64 229376
  %v2656 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2657 = load ptr, ptr %v2656, !invariant.load !0
  %v2658 = getelementptr inbounds i8, ptr %v2657, i64 2867200
  %v2659 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2660 = load ptr, ptr %v2659, !invariant.load !0
  %v2661 = getelementptr inbounds i8, ptr %v2660, i64 2211840
  %v2662 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2663 = load ptr, ptr %v2662, !invariant.load !0
  %v2664 = getelementptr inbounds i8, ptr %v2663, i64 1458176
  %v2665 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2666 = load ptr, ptr %v2665, !invariant.load !0
  %v2667 = getelementptr inbounds i8, ptr %v2666, i64 3112960
  %v2668 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2669 = load ptr, ptr %v2668, !invariant.load !0
  %v2670 = getelementptr inbounds i8, ptr %v2669, i64 163840
  call void @tanh_minimum_subtract_multiply_fusion(ptr %v2643, ptr %v2646, ptr %v2649, ptr %v2652, ptr %v2655, ptr %v2658, ptr %v2661, ptr %v2664, ptr %v2667, ptr %v2670)
  %v2671 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2672 = load ptr, ptr %v2671, !invariant.load !0
  %v2673 = getelementptr inbounds i8, ptr %v2672, i64 3211776
  %v2674 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2675 = load ptr, ptr %v2674, !invariant.load !0
  %v2676 = getelementptr inbounds i8, ptr %v2675, i64 3211520
  %v2677 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2678 = load ptr, ptr %v2677, !invariant.load !0
  %v2679 = getelementptr inbounds i8, ptr %v2678, i64 1409024
  call void @minimum_tanh_fusion_9(ptr %v2673, ptr %v2676, ptr %v2679)
  %v2680 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2681 = load ptr, ptr %v2680, !invariant.load !0
  %v2682 = getelementptr inbounds i8, ptr %v2681, i64 1261568
  %v2683 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2684 = load ptr, ptr %v2683, !invariant.load !0
  %v2685 = getelementptr inbounds i8, ptr %v2684, i64 3063808
  %v2686 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2687 = load ptr, ptr %v2686, !invariant.load !0
  %v2688 = getelementptr inbounds i8, ptr %v2687, i64 573440
  %v2689 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2690 = load ptr, ptr %v2689, !invariant.load !0
  %v2691 = getelementptr inbounds i8, ptr %v2690, i64 5816576
  %v2692 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2693 = load ptr, ptr %v2692, !invariant.load !0
  %v2694 = getelementptr inbounds i8, ptr %v2693, i64 4702208
  %v2695 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2696 = load ptr, ptr %v2695, !invariant.load !0
  %v2697 = getelementptr inbounds i8, ptr %v2696, i64 4734976
  %v2698 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2699 = load ptr, ptr %v2698, !invariant.load !0
  %v2700 = getelementptr inbounds i8, ptr %v2699, i64 4521984
  %v2701 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2702 = load ptr, ptr %v2701, !invariant.load !0
  %v2703 = getelementptr inbounds i8, ptr %v2702, i64 2555904
  %v2704 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2705 = load ptr, ptr %v2704, !invariant.load !0
  %v2706 = getelementptr inbounds i8, ptr %v2705, i64 2048000
  %v2707 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2708 = load ptr, ptr %v2707, !invariant.load !0
  %v2709 = getelementptr inbounds i8, ptr %v2708, i64 2686976
  %v2710 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2711 = load ptr, ptr %v2710, !invariant.load !0
  %v2712 = getelementptr inbounds i8, ptr %v2711, i64 5032704
  %v2713 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2714 = load ptr, ptr %v2713, !invariant.load !0
  %v2715 = getelementptr inbounds i8, ptr %v2714, i64 1441792
  %v2716 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2717 = load ptr, ptr %v2716, !invariant.load !0
  %v2718 = getelementptr inbounds i8, ptr %v2717, i64 1474560
  call void @add_minimum_multiply_maximum_fusion(ptr %v2682, ptr %v2685, ptr %v2688, ptr %v2691, ptr %v2694, ptr %v2697, ptr %v2700, ptr %v2703, ptr %v2706, ptr %v2709, ptr %v2712, ptr %v2715, ptr %v2718)
  %v2719 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2720 = load ptr, ptr %v2719, !invariant.load !0
  %v2721 = getelementptr inbounds i8, ptr %v2720, i64 3883008
  %v2722 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2723 = load ptr, ptr %v2722, !invariant.load !0
  %v2724 = getelementptr inbounds i8, ptr %v2723, i64 5046272
  %v2725 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2726 = load ptr, ptr %v2725, !invariant.load !0
  %v2727 = getelementptr inbounds i8, ptr %v2726, i64 4521984
  %v2728 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2729 = load ptr, ptr %v2728, !invariant.load !0
  %v2730 = getelementptr inbounds i8, ptr %v2729, i64 3686400
  %v2731 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2732 = load ptr, ptr %v2731, !invariant.load !0
  %v2733 = getelementptr inbounds i8, ptr %v2732, i64 3391488
  %v2734 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2735 = load ptr, ptr %v2734, !invariant.load !0
  %v2736 = getelementptr inbounds i8, ptr %v2735, i64 5816320
  %v2737 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2738 = load ptr, ptr %v2737, !invariant.load !0
  %v2739 = getelementptr inbounds i8, ptr %v2738, i64 4440064
  %v2740 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2741 = load ptr, ptr %v2740, !invariant.load !0
  %v2742 = getelementptr inbounds i8, ptr %v2741, i64 524288
  %v2743 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2744 = load ptr, ptr %v2743, !invariant.load !0
  %v2745 = getelementptr inbounds i8, ptr %v2744, i64 229376
  %v2746 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2747 = load ptr, ptr %v2746, !invariant.load !0
  %v2748 = getelementptr inbounds i8, ptr %v2747, i64 1507328
  %v2749 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2750 = load ptr, ptr %v2749, !invariant.load !0
  %v2751 = getelementptr inbounds i8, ptr %v2750, i64 1998848
  %v2752 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2753 = load ptr, ptr %v2752, !invariant.load !0
  %v2754 = getelementptr inbounds i8, ptr %v2753, i64 2064384
  %v2755 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2756 = load ptr, ptr %v2755, !invariant.load !0
  %v2757 = getelementptr inbounds i8, ptr %v2756, i64 2129920
  %v2758 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2759 = load ptr, ptr %v2758, !invariant.load !0
  %v2760 = getelementptr inbounds i8, ptr %v2759, i64 2162688
  call void @minimum_tanh_maximum_multiply_fusion(ptr %v2721, ptr %v2724, ptr %v2727, ptr %v2730, ptr %v2733, ptr %v2736, ptr %v2739, ptr %v2742, ptr %v2745, ptr %v2748, ptr %v2751, ptr %v2754, ptr %v2757, ptr %v2760)
  %v2761 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2762 = load ptr, ptr %v2761, !invariant.load !0
  %v2763 = getelementptr inbounds i8, ptr %v2762, i64 491520
  %v2764 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2765 = load ptr, ptr %v2764, !invariant.load !0
  %v2766 = getelementptr inbounds i8, ptr %v2765, i64 540672
  %v2767 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2768 = load ptr, ptr %v2767, !invariant.load !0
  %v2769 = getelementptr inbounds i8, ptr %v2768, i64 4571136
  %v2770 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2771 = load ptr, ptr %v2770, !invariant.load !0
  %v2772 = getelementptr inbounds i8, ptr %v2771, i64 4489216
  %v2773 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2774 = load ptr, ptr %v2773, !invariant.load !0
  %v2775 = getelementptr inbounds i8, ptr %v2774, i64 1441792
  %v2776 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2777 = load ptr, ptr %v2776, !invariant.load !0
  %v2778 = getelementptr inbounds i8, ptr %v2777, i64 4964352
  %v2779 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2780 = load ptr, ptr %v2779, !invariant.load !0
  %v2781 = getelementptr inbounds i8, ptr %v2780, i64 3833856
  %v2782 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2783 = load ptr, ptr %v2782, !invariant.load !0
  %v2784 = getelementptr inbounds i8, ptr %v2783, i64 1736704
  %v2785 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2786 = load ptr, ptr %v2785, !invariant.load !0
  %v2787 = getelementptr inbounds i8, ptr %v2786, i64 2162688
  %v2788 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2789 = load ptr, ptr %v2788, !invariant.load !0
  %v2790 = getelementptr inbounds i8, ptr %v2789, i64 2260992
  %v2791 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2792 = load ptr, ptr %v2791, !invariant.load !0
  %v2793 = getelementptr inbounds i8, ptr %v2792, i64 2670592
  %v2794 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2795 = load ptr, ptr %v2794, !invariant.load !0
  %v2796 = getelementptr inbounds i8, ptr %v2795, i64 3194880
  %v2797 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2798 = load ptr, ptr %v2797, !invariant.load !0
  %v2799 = getelementptr inbounds i8, ptr %v2798, i64 3211264
  %v2800 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2801 = load ptr, ptr %v2800, !invariant.load !0
  %v2802 = getelementptr inbounds i8, ptr %v2801, i64 3227648
  %v2803 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2804 = load ptr, ptr %v2803, !invariant.load !0
  %v2805 = getelementptr inbounds i8, ptr %v2804, i64 3244032
  %v2806 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2807 = load ptr, ptr %v2806, !invariant.load !0
  %v2808 = getelementptr inbounds i8, ptr %v2807, i64 3276800
  %v2809 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2810 = load ptr, ptr %v2809, !invariant.load !0
  %v2811 = getelementptr inbounds i8, ptr %v2810, i64 3309568
  call void @multiply_tanh_add_fusion_11(ptr %v2763, ptr %v2766, ptr %v2769, ptr %v2772, ptr %v2775, ptr %v2778, ptr %v2781, ptr %v2784, ptr %v2787, ptr %v2790, ptr %v2793, ptr %v2796, ptr %v2799, ptr %v2802, ptr %v2805, ptr %v2808, ptr %v2811)
  %v2812 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2813 = load ptr, ptr %v2812, !invariant.load !0
  %v2814 = getelementptr inbounds i8, ptr %v2813, i64 2473984
  %v2815 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2816 = load ptr, ptr %v2815, !invariant.load !0
  %v2817 = getelementptr inbounds i8, ptr %v2816, i64 3866624
  %v2818 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2819 = load ptr, ptr %v2818, !invariant.load !0
  %v2820 = getelementptr inbounds i8, ptr %v2819, i64 3801088
  %v2821 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2822 = load ptr, ptr %v2821, !invariant.load !0
  %v2823 = getelementptr inbounds i8, ptr %v2822, i64 2408448
  %v2824 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2825 = load ptr, ptr %v2824, !invariant.load !0
  %v2826 = getelementptr inbounds i8, ptr %v2825, i64 2424832
  %v2827 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2828 = load ptr, ptr %v2827, !invariant.load !0
  %v2829 = getelementptr inbounds i8, ptr %v2828, i64 3604480
  %v2830 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2831 = load ptr, ptr %v2830, !invariant.load !0
  %v2832 = getelementptr inbounds i8, ptr %v2831, i64 1474560
  %v2833 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2834 = load ptr, ptr %v2833, !invariant.load !0
  %v2835 = getelementptr inbounds i8, ptr %v2834, i64 2785280
  %v2836 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2837 = load ptr, ptr %v2836, !invariant.load !0
  %v2838 = getelementptr inbounds i8, ptr %v2837, i64 180224
  %v2839 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2840 = load ptr, ptr %v2839, !invariant.load !0
  %v2841 = getelementptr inbounds i8, ptr %v2840, i64 4964352
  %v2842 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2843 = load ptr, ptr %v2842, !invariant.load !0
  %v2844 = getelementptr inbounds i8, ptr %v2843, i64 3325952
  %v2845 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2846 = load ptr, ptr %v2845, !invariant.load !0
  %v2847 = getelementptr inbounds i8, ptr %v2846, i64 3375104
  %v2848 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2849 = load ptr, ptr %v2848, !invariant.load !0
  %v2850 = getelementptr inbounds i8, ptr %v2849, i64 3424256
  %v2851 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2852 = load ptr, ptr %v2851, !invariant.load !0
  %v2853 = getelementptr inbounds i8, ptr %v2852, i64 3457024
  call void @tanh_maximum_subtract_multiply_fusion_1(ptr %v2814, ptr %v2817, ptr %v2820, ptr %v2823, ptr %v2826, ptr %v2829, ptr %v2832, ptr %v2835, ptr %v2838, ptr %v2841, ptr %v2844, ptr %v2847, ptr %v2850, ptr %v2853)
  %v2854 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2855 = load ptr, ptr %v2854, !invariant.load !0
  %v2856 = getelementptr inbounds i8, ptr %v2855, i64 3997696
  %v2857 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2858 = load ptr, ptr %v2857, !invariant.load !0
  %v2859 = getelementptr inbounds i8, ptr %v2858, i64 4390912
  %v2860 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2861 = load ptr, ptr %v2860, !invariant.load !0
  %v2862 = getelementptr inbounds i8, ptr %v2861, i64 3948544
  %v2863 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2864 = load ptr, ptr %v2863, !invariant.load !0
  %v2865 = getelementptr inbounds i8, ptr %v2864, i64 4292608
  %v2866 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2867 = load ptr, ptr %v2866, !invariant.load !0
  %v2868 = getelementptr inbounds i8, ptr %v2867, i64 1654784
  %v2869 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2870 = load ptr, ptr %v2869, !invariant.load !0
  %v2871 = getelementptr inbounds i8, ptr %v2870, i64 4685824
  %v2872 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2873 = load ptr, ptr %v2872, !invariant.load !0
  %v2874 = getelementptr inbounds i8, ptr %v2873, i64 3637248
  %v2875 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2876 = load ptr, ptr %v2875, !invariant.load !0
  %v2877 = getelementptr inbounds i8, ptr %v2876, i64 4030464
  %v2878 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2879 = load ptr, ptr %v2878, !invariant.load !0
  %v2880 = getelementptr inbounds i8, ptr %v2879, i64 98304
  %v2881 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2882 = load ptr, ptr %v2881, !invariant.load !0
  %v2883 = getelementptr inbounds i8, ptr %v2882, i64 3473408
  %v2884 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2885 = load ptr, ptr %v2884, !invariant.load !0
  %v2886 = getelementptr inbounds i8, ptr %v2885, i64 3784704
  %v2887 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2888 = load ptr, ptr %v2887, !invariant.load !0
  %v2889 = getelementptr inbounds i8, ptr %v2888, i64 3915776
  %v2890 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2891 = load ptr, ptr %v2890, !invariant.load !0
  %v2892 = getelementptr inbounds i8, ptr %v2891, i64 3964928
  %v2893 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2894 = load ptr, ptr %v2893, !invariant.load !0
  %v2895 = getelementptr inbounds i8, ptr %v2894, i64 4161536
  %v2896 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2897 = load ptr, ptr %v2896, !invariant.load !0
  %v2898 = getelementptr inbounds i8, ptr %v2897, i64 4276224
  call void @subtract_tanh_add_multiply_fusion(ptr %v2856, ptr %v2859, ptr %v2862, ptr %v2865, ptr %v2868, ptr %v2871, ptr %v2874, ptr %v2877, ptr %v2880, ptr %v2883, ptr %v2886, ptr %v2889, ptr %v2892, ptr %v2895, ptr %v2898)
  %v2899 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2900 = load ptr, ptr %v2899, !invariant.load !0
  %v2901 = getelementptr inbounds i8, ptr %v2900, i64 589824
  %v2902 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2903 = load ptr, ptr %v2902, !invariant.load !0
  %v2904 = getelementptr inbounds i8, ptr %v2903, i64 4489216
  %v2905 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2906 = load ptr, ptr %v2905, !invariant.load !0
  %v2907 = getelementptr inbounds i8, ptr %v2906, i64 3555328
  %v2908 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2909 = load ptr, ptr %v2908, !invariant.load !0
  %v2910 = getelementptr inbounds i8, ptr %v2909, i64 1048576
  %v2911 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2912 = load ptr, ptr %v2911, !invariant.load !0
  %v2913 = getelementptr inbounds i8, ptr %v2912, i64 442368
  %v2914 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2915 = load ptr, ptr %v2914, !invariant.load !0
  %v2916 = getelementptr inbounds i8, ptr %v2915, i64 1179648
  %v2917 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2918 = load ptr, ptr %v2917, !invariant.load !0
  %v2919 = getelementptr inbounds i8, ptr %v2918, i64 3440640
  %v2920 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2921 = load ptr, ptr %v2920, !invariant.load !0
  %v2922 = getelementptr inbounds i8, ptr %v2921, i64 3080192
  %v2923 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2924 = load ptr, ptr %v2923, !invariant.load !0
  %v2925 = getelementptr inbounds i8, ptr %v2924, i64 2375680
  %v2926 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2927 = load ptr, ptr %v2926, !invariant.load !0
  %v2928 = getelementptr inbounds i8, ptr %v2927, i64 4308992
  %v2929 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2930 = load ptr, ptr %v2929, !invariant.load !0
  %v2931 = getelementptr inbounds i8, ptr %v2930, i64 4833280
  %v2932 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2933 = load ptr, ptr %v2932, !invariant.load !0
  %v2934 = getelementptr inbounds i8, ptr %v2933, i64 327680
  %v2935 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2936 = load ptr, ptr %v2935, !invariant.load !0
  %v2937 = getelementptr inbounds i8, ptr %v2936, i64 1114112
  %v2938 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2939 = load ptr, ptr %v2938, !invariant.load !0
  %v2940 = getelementptr inbounds i8, ptr %v2939, i64 147456
  %v2941 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2942 = load ptr, ptr %v2941, !invariant.load !0
  %v2943 = getelementptr inbounds i8, ptr %v2942, i64 2293760
  %v2944 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2945 = load ptr, ptr %v2944, !invariant.load !0
  %v2946 = getelementptr inbounds i8, ptr %v2945, i64 3899392
  %v2947 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2948 = load ptr, ptr %v2947, !invariant.load !0
  %v2949 = getelementptr inbounds i8, ptr %v2948, i64 704512
  %v2950 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2951 = load ptr, ptr %v2950, !invariant.load !0
  %v2952 = getelementptr inbounds i8, ptr %v2951, i64 16384
  %v2953 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2954 = load ptr, ptr %v2953, !invariant.load !0
  %v2955 = getelementptr inbounds i8, ptr %v2954, i64 3407872
  %v2956 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2957 = load ptr, ptr %v2956, !invariant.load !0
  %v2958 = getelementptr inbounds i8, ptr %v2957, i64 3489792
  %v2959 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2960 = load ptr, ptr %v2959, !invariant.load !0
  %v2961 = getelementptr inbounds i8, ptr %v2960, i64 3604480
  %v2962 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2963 = load ptr, ptr %v2962, !invariant.load !0
  %v2964 = getelementptr inbounds i8, ptr %v2963, i64 3981312
  %v2965 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2966 = load ptr, ptr %v2965, !invariant.load !0
  %v2967 = getelementptr inbounds i8, ptr %v2966, i64 3260416
  %v2968 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2969 = load ptr, ptr %v2968, !invariant.load !0
  %v2970 = getelementptr inbounds i8, ptr %v2969, i64 1081344
  %v2971 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2972 = load ptr, ptr %v2971, !invariant.load !0
  %v2973 = getelementptr inbounds i8, ptr %v2972, i64 5033472
  %v2974 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2975 = load ptr, ptr %v2974, !invariant.load !0
  %v2976 = getelementptr inbounds i8, ptr %v2975, i64 4194304
  %v2977 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2978 = load ptr, ptr %v2977, !invariant.load !0
  %v2979 = getelementptr inbounds i8, ptr %v2978, i64 3293184
  %v2980 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2981 = load ptr, ptr %v2980, !invariant.load !0
  %v2982 = getelementptr inbounds i8, ptr %v2981, i64 2473984
  %v2983 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2984 = load ptr, ptr %v2983, !invariant.load !0
  %v2985 = getelementptr inbounds i8, ptr %v2984, i64 5947392
  %v2986 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2987 = load ptr, ptr %v2986, !invariant.load !0
  %v2988 = getelementptr inbounds i8, ptr %v2987, i64 1409024
  %v2989 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2990 = load ptr, ptr %v2989, !invariant.load !0
  %v2991 = getelementptr inbounds i8, ptr %v2990, i64 2359296
  %v2992 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2993 = load ptr, ptr %v2992, !invariant.load !0
  %v2994 = getelementptr inbounds i8, ptr %v2993, i64 1933312
  %v2995 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2996 = load ptr, ptr %v2995, !invariant.load !0
  %v2997 = getelementptr inbounds i8, ptr %v2996, i64 2015232
  %v2998 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v2999 = load ptr, ptr %v2998, !invariant.load !0
  %v3000 = getelementptr inbounds i8, ptr %v2999, i64 2801664
  %v3001 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3002 = load ptr, ptr %v3001, !invariant.load !0
  %v3003 = getelementptr inbounds i8, ptr %v3002, i64 2981888
  %v3004 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3005 = load ptr, ptr %v3004, !invariant.load !0
  %v3006 = getelementptr inbounds i8, ptr %v3005, i64 2965504
  %v3007 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3008 = load ptr, ptr %v3007, !invariant.load !0
  %v3009 = getelementptr inbounds i8, ptr %v3008, i64 3735552
  %v3010 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3011 = load ptr, ptr %v3010, !invariant.load !0
  %v3012 = getelementptr inbounds i8, ptr %v3011, i64 2179072
  %v3013 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3014 = load ptr, ptr %v3013, !invariant.load !0
  %v3015 = getelementptr inbounds i8, ptr %v3014, i64 1949696
  %v3016 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3017 = load ptr, ptr %v3016, !invariant.load !0
  %v3018 = getelementptr inbounds i8, ptr %v3017, i64 4423680
  %v3019 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3020 = load ptr, ptr %v3019, !invariant.load !0
  %v3021 = getelementptr inbounds i8, ptr %v3020, i64 2752512
  %v3022 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3023 = load ptr, ptr %v3022, !invariant.load !0
  %v3024 = getelementptr inbounds i8, ptr %v3023, i64 4145152
  %v3025 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3026 = load ptr, ptr %v3025, !invariant.load !0
  %v3027 = getelementptr inbounds i8, ptr %v3026, i64 3883008
  %v3028 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3029 = load ptr, ptr %v3028, !invariant.load !0
  %v3030 = getelementptr inbounds i8, ptr %v3029, i64 4374528
  %v3031 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3032 = load ptr, ptr %v3031, !invariant.load !0
  %v3033 = getelementptr inbounds i8, ptr %v3032, i64 1343488
  %v3034 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3035 = load ptr, ptr %v3034, !invariant.load !0
  %v3036 = getelementptr inbounds i8, ptr %v3035, i64 933888
  %v3037 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3038 = load ptr, ptr %v3037, !invariant.load !0
  %v3039 = getelementptr inbounds i8, ptr %v3038, i64 4882432
  %v3040 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3041 = load ptr, ptr %v3040, !invariant.load !0
  %v3042 = getelementptr inbounds i8, ptr %v3041, i64 3620864
  %v3043 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3044 = load ptr, ptr %v3043, !invariant.load !0
  %v3045 = getelementptr inbounds i8, ptr %v3044, i64 4587520
  %v3046 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3047 = load ptr, ptr %v3046, !invariant.load !0
  %v3048 = getelementptr inbounds i8, ptr %v3047, i64 3719168
  %v3049 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3050 = load ptr, ptr %v3049, !invariant.load !0
  %v3051 = getelementptr inbounds i8, ptr %v3050, i64 2080768
  %v3052 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3053 = load ptr, ptr %v3052, !invariant.load !0
  %v3054 = getelementptr inbounds i8, ptr %v3053, i64 3751936
  %v3055 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3056 = load ptr, ptr %v3055, !invariant.load !0
  %v3057 = getelementptr inbounds i8, ptr %v3056, i64 3342336
  %v3058 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3059 = load ptr, ptr %v3058, !invariant.load !0
  %v3060 = getelementptr inbounds i8, ptr %v3059, i64 4407296
  %v3061 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3062 = load ptr, ptr %v3061, !invariant.load !0
  %v3063 = getelementptr inbounds i8, ptr %v3062, i64 4390912
  %v3064 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3065 = load ptr, ptr %v3064, !invariant.load !0
  %v3066 = getelementptr inbounds i8, ptr %v3065, i64 4112384
  %v3067 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3068 = load ptr, ptr %v3067, !invariant.load !0
  %v3069 = getelementptr inbounds i8, ptr %v3068, i64 3948544
  %v3070 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3071 = load ptr, ptr %v3070, !invariant.load !0
  %v3072 = getelementptr inbounds i8, ptr %v3071, i64 1097728
  %v3073 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3074 = load ptr, ptr %v3073, !invariant.load !0
  %v3075 = getelementptr inbounds i8, ptr %v3074, i64 1556480
  %v3076 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3077 = load ptr, ptr %v3076, !invariant.load !0
  %v3078 = getelementptr inbounds i8, ptr %v3077, i64 802816
  %v3079 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3080 = load ptr, ptr %v3079, !invariant.load !0
  %v3081 = getelementptr inbounds i8, ptr %v3080, i64 2588672
  %v3082 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3083 = load ptr, ptr %v3082, !invariant.load !0
  %v3084 = getelementptr inbounds i8, ptr %v3083, i64 1687552
  %v3086 = getelementptr inbounds ptr, ptr %slot3085, i64 0
  store ptr %v2901, ptr %v3086, align 8
  %v3087 = getelementptr inbounds ptr, ptr %slot3085, i64 1
  store ptr %v2904, ptr %v3087, align 8
  %v3088 = getelementptr inbounds ptr, ptr %slot3085, i64 2
  store ptr %v2907, ptr %v3088, align 8
  %v3089 = getelementptr inbounds ptr, ptr %slot3085, i64 3
  store ptr %v2910, ptr %v3089, align 8
  %v3090 = getelementptr inbounds ptr, ptr %slot3085, i64 4
  store ptr %v2913, ptr %v3090, align 8
  %v3091 = getelementptr inbounds ptr, ptr %slot3085, i64 5
  store ptr %v2916, ptr %v3091, align 8
  %v3092 = getelementptr inbounds ptr, ptr %slot3085, i64 6
  store ptr %v2919, ptr %v3092, align 8
  %v3093 = getelementptr inbounds ptr, ptr %slot3085, i64 7
  store ptr %v2922, ptr %v3093, align 8
  %v3094 = getelementptr inbounds ptr, ptr %slot3085, i64 8
  store ptr %v2925, ptr %v3094, align 8
  %v3095 = getelementptr inbounds ptr, ptr %slot3085, i64 9
  store ptr %v2928, ptr %v3095, align 8
  %v3096 = getelementptr inbounds ptr, ptr %slot3085, i64 10
  store ptr %v2931, ptr %v3096, align 8
  %v3097 = getelementptr inbounds ptr, ptr %slot3085, i64 11
  store ptr %v2934, ptr %v3097, align 8
  %v3098 = getelementptr inbounds ptr, ptr %slot3085, i64 12
  store ptr %v2937, ptr %v3098, align 8
  %v3099 = getelementptr inbounds ptr, ptr %slot3085, i64 13
  store ptr %v2940, ptr %v3099, align 8
  %v3100 = getelementptr inbounds ptr, ptr %slot3085, i64 14
  store ptr %v2943, ptr %v3100, align 8
  %v3101 = getelementptr inbounds ptr, ptr %slot3085, i64 15
  store ptr %v2946, ptr %v3101, align 8
  %v3102 = getelementptr inbounds ptr, ptr %slot3085, i64 16
  store ptr %v2949, ptr %v3102, align 8
  %v3103 = getelementptr inbounds ptr, ptr %slot3085, i64 17
  store ptr %v2952, ptr %v3103, align 8
  %v3104 = getelementptr inbounds ptr, ptr %slot3085, i64 18
  store ptr %v2955, ptr %v3104, align 8
  %v3105 = getelementptr inbounds ptr, ptr %slot3085, i64 19
  store ptr %v2958, ptr %v3105, align 8
  %v3106 = getelementptr inbounds ptr, ptr %slot3085, i64 20
  store ptr %v2961, ptr %v3106, align 8
  %v3107 = getelementptr inbounds ptr, ptr %slot3085, i64 21
  store ptr %v2964, ptr %v3107, align 8
  %v3108 = getelementptr inbounds ptr, ptr %slot3085, i64 22
  store ptr %v2967, ptr %v3108, align 8
  %v3109 = getelementptr inbounds ptr, ptr %slot3085, i64 23
  store ptr %v2970, ptr %v3109, align 8
  %v3110 = getelementptr inbounds ptr, ptr %slot3085, i64 24
  store ptr %v2973, ptr %v3110, align 8
  %v3111 = getelementptr inbounds ptr, ptr %slot3085, i64 25
  store ptr %v2976, ptr %v3111, align 8
  %v3112 = getelementptr inbounds ptr, ptr %slot3085, i64 26
  store ptr %v2979, ptr %v3112, align 8
  %v3113 = getelementptr inbounds ptr, ptr %slot3085, i64 27
  store ptr %v2982, ptr %v3113, align 8
  %v3114 = getelementptr inbounds ptr, ptr %slot3085, i64 28
  store ptr %v2985, ptr %v3114, align 8
  %v3115 = getelementptr inbounds ptr, ptr %slot3085, i64 29
  store ptr %v2988, ptr %v3115, align 8
  %v3116 = getelementptr inbounds ptr, ptr %slot3085, i64 30
  store ptr %v2991, ptr %v3116, align 8
  %v3117 = getelementptr inbounds ptr, ptr %slot3085, i64 31
  store ptr %v2994, ptr %v3117, align 8
  %v3118 = getelementptr inbounds ptr, ptr %slot3085, i64 32
  store ptr %v2997, ptr %v3118, align 8
  %v3119 = getelementptr inbounds ptr, ptr %slot3085, i64 33
  store ptr %v3000, ptr %v3119, align 8
  %v3120 = getelementptr inbounds ptr, ptr %slot3085, i64 34
  store ptr %v3003, ptr %v3120, align 8
  %v3121 = getelementptr inbounds ptr, ptr %slot3085, i64 35
  store ptr %v3006, ptr %v3121, align 8
  %v3122 = getelementptr inbounds ptr, ptr %slot3085, i64 36
  store ptr %v3009, ptr %v3122, align 8
  %v3123 = getelementptr inbounds ptr, ptr %slot3085, i64 37
  store ptr %v3012, ptr %v3123, align 8
  %v3124 = getelementptr inbounds ptr, ptr %slot3085, i64 38
  store ptr %v3015, ptr %v3124, align 8
  %v3125 = getelementptr inbounds ptr, ptr %slot3085, i64 39
  store ptr %v3018, ptr %v3125, align 8
  %v3126 = getelementptr inbounds ptr, ptr %slot3085, i64 40
  store ptr %v3021, ptr %v3126, align 8
  %v3127 = getelementptr inbounds ptr, ptr %slot3085, i64 41
  store ptr %v3024, ptr %v3127, align 8
  %v3128 = getelementptr inbounds ptr, ptr %slot3085, i64 42
  store ptr %v3027, ptr %v3128, align 8
  %v3129 = getelementptr inbounds ptr, ptr %slot3085, i64 43
  store ptr %v3030, ptr %v3129, align 8
  %v3130 = getelementptr inbounds ptr, ptr %slot3085, i64 44
  store ptr %v3033, ptr %v3130, align 8
  %v3131 = getelementptr inbounds ptr, ptr %slot3085, i64 45
  store ptr %v3036, ptr %v3131, align 8
  %v3132 = getelementptr inbounds ptr, ptr %slot3085, i64 46
  store ptr %v3039, ptr %v3132, align 8
  %v3133 = getelementptr inbounds ptr, ptr %slot3085, i64 47
  store ptr %v3042, ptr %v3133, align 8
  %v3134 = getelementptr inbounds ptr, ptr %slot3085, i64 48
  store ptr %v3045, ptr %v3134, align 8
  %v3135 = getelementptr inbounds ptr, ptr %slot3085, i64 49
  store ptr %v3048, ptr %v3135, align 8
  %v3136 = getelementptr inbounds ptr, ptr %slot3085, i64 50
  store ptr %v3051, ptr %v3136, align 8
  %v3137 = getelementptr inbounds ptr, ptr %slot3085, i64 51
  store ptr %v3054, ptr %v3137, align 8
  %v3138 = getelementptr inbounds ptr, ptr %slot3085, i64 52
  store ptr %v3057, ptr %v3138, align 8
  %v3139 = getelementptr inbounds ptr, ptr %slot3085, i64 53
  store ptr %v3060, ptr %v3139, align 8
  %v3140 = getelementptr inbounds ptr, ptr %slot3085, i64 54
  store ptr %v3063, ptr %v3140, align 8
  %v3141 = getelementptr inbounds ptr, ptr %slot3085, i64 55
  store ptr %v3066, ptr %v3141, align 8
  %v3142 = getelementptr inbounds ptr, ptr %slot3085, i64 56
  store ptr %v3069, ptr %v3142, align 8
  %v3143 = getelementptr inbounds ptr, ptr %slot3085, i64 57
  store ptr %v3072, ptr %v3143, align 8
  %v3144 = getelementptr inbounds ptr, ptr %slot3085, i64 58
  store ptr %v3075, ptr %v3144, align 8
  %v3145 = getelementptr inbounds ptr, ptr %slot3085, i64 59
  store ptr %v3078, ptr %v3145, align 8
  %v3146 = getelementptr inbounds ptr, ptr %slot3085, i64 60
  store ptr %v3081, ptr %v3146, align 8
  %v3147 = getelementptr inbounds ptr, ptr %slot3085, i64 61
  store ptr %v3084, ptr %v3147, align 8
  call void @xla_explorer_parallel_for(ptr @tanh_maximum_add_fusion_1_task, ptr %slot3085, i64 4)
  ret i32 0
}

define hidden i32 @xe_entry_part3(ptr noalias %arguments) nounwind optnone noinline "optimization-level"="final" {
entry:
  %v3148 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3149 = load ptr, ptr %v3148, !invariant.load !0
  %v3150 = getelementptr inbounds i8, ptr %v3149, i64 2605056
  %v3151 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3152 = load ptr, ptr %v3151, !invariant.load !0
  %v3153 = getelementptr inbounds i8, ptr %v3152, i64 3342336
  %v3154 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3155 = load ptr, ptr %v3154, !invariant.load !0
  %v3156 = getelementptr inbounds i8, ptr %v3155, i64 3899392
  call void @minimum_reduce_fusion_3(ptr %v3150, ptr %v3153, ptr %v3156)
  %v3157 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3158 = load ptr, ptr %v3157, !invariant.load !0
  %v3159 = getelementptr inbounds i8, ptr %v3158, i64 3899392
  call void @wrapped_tanh_540(ptr %v3159)
  %v3160 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3161 = load ptr, ptr %v3160, !invariant.load !0
  %v3162 = getelementptr inbounds i8, ptr %v3161, i64 3506176
  %v3163 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3164 = load ptr, ptr %v3163, !invariant.load !0
  %v3165 = getelementptr inbounds i8, ptr %v3164, i64 3932160
  %v3166 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3167 = load ptr, ptr %v3166, !invariant.load !0
  %v3168 = getelementptr inbounds i8, ptr %v3167, i64 4423680
  %v3169 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3170 = load ptr, ptr %v3169, !invariant.load !0
  %v3171 = getelementptr inbounds i8, ptr %v3170, i64 1114112
  %v3172 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3173 = load ptr, ptr %v3172, !invariant.load !0
  %v3174 = getelementptr inbounds i8, ptr %v3173, i64 1163264
  %v3175 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3176 = load ptr, ptr %v3175, !invariant.load !0
  %v3177 = getelementptr inbounds i8, ptr %v3176, i64 1720320
  %v3178 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3179 = load ptr, ptr %v3178, !invariant.load !0
  %v3180 = getelementptr inbounds i8, ptr %v3179, i64 278528
  %v3181 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3182 = load ptr, ptr %v3181, !invariant.load !0
  %v3183 = getelementptr inbounds i8, ptr %v3182, i64 3899392
  %v3184 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3185 = load ptr, ptr %v3184, !invariant.load !0
  %v3186 = getelementptr inbounds i8, ptr %v3185, i64 4194304
  %v3187 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3188 = load ptr, ptr %v3187, !invariant.load !0
  %v3189 = getelementptr inbounds i8, ptr %v3188, i64 2523136
  %v3190 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3191 = load ptr, ptr %v3190, !invariant.load !0
  %v3192 = getelementptr inbounds i8, ptr %v3191, i64 1556480
  %v3193 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3194 = load ptr, ptr %v3193, !invariant.load !0
  %v3195 = getelementptr inbounds i8, ptr %v3194, i64 3375104
  %v3196 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3197 = load ptr, ptr %v3196, !invariant.load !0
  call void @add_minimum_multiply_fusion(ptr %v3162, ptr %v3165, ptr %v3168, ptr %v3171, ptr %v3174, ptr %v3177, ptr %v3180, ptr %v3183, ptr %v3186, ptr %v3189, ptr %v3192, ptr %v3195, ptr %v3197)
  %v3198 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3199 = load ptr, ptr %v3198, !invariant.load !0
  %v3200 = getelementptr inbounds i8, ptr %v3199, i64 5013504
  %v3201 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3202 = load ptr, ptr %v3201, !invariant.load !0
  %v3203 = getelementptr inbounds i8, ptr %v3202, i64 1884160
  %v3204 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3205 = load ptr, ptr %v3204, !invariant.load !0
  %v3206 = getelementptr inbounds i8, ptr %v3205, i64 2818048
  %v3207 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3208 = load ptr, ptr %v3207, !invariant.load !0
  %v3209 = getelementptr inbounds i8, ptr %v3208, i64 557056
  %v3210 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3211 = load ptr, ptr %v3210, !invariant.load !0
  %v3212 = getelementptr inbounds i8, ptr %v3211, i64 3686400
  %v3213 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3214 = load ptr, ptr %v3213, !invariant.load !0
  %v3215 = getelementptr inbounds i8, ptr %v3214, i64 4898816
  %v3216 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3217 = load ptr, ptr %v3216, !invariant.load !0
  %v3218 = getelementptr inbounds i8, ptr %v3217, i64 3653632
  %v3219 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3220 = load ptr, ptr %v3219, !invariant.load !0
  %v3221 = getelementptr inbounds i8, ptr %v3220, i64 5033472
  %v3222 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3223 = load ptr, ptr %v3222, !invariant.load !0
  %v3224 = getelementptr inbounds i8, ptr %v3223, i64 1851392
  %v3225 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3226 = load ptr, ptr %v3225, !invariant.load !0
  %v3227 = getelementptr inbounds i8, ptr %v3226, i64 1671168
  %v3228 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3229 = load ptr, ptr %v3228, !invariant.load !0
  %v3230 = getelementptr inbounds i8, ptr %v3229, i64 4964352
  %v3231 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3232 = load ptr, ptr %v3231, !invariant.load !0
  %v3233 = getelementptr inbounds i8, ptr %v3232, i64 4980736
  call void @maximum_tanh_multiply_fusion(ptr %v3200, ptr %v3203, ptr %v3206, ptr %v3209, ptr %v3212, ptr %v3215, ptr %v3218, ptr %v3221, ptr %v3224, ptr %v3227, ptr %v3230, ptr %v3233)
  %v3234 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3235 = load ptr, ptr %v3234, !invariant.load !0
  %v3236 = getelementptr inbounds i8, ptr %v3235, i64 1064960
  %v3237 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3238 = load ptr, ptr %v3237, !invariant.load !0
  %v3239 = getelementptr inbounds i8, ptr %v3238, i64 1916928
  %v3240 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3241 = load ptr, ptr %v3240, !invariant.load !0
  %v3242 = getelementptr inbounds i8, ptr %v3241, i64 5947648
  call void @minimum_reduce_fusion_2(ptr %v3236, ptr %v3239, ptr %v3242)
  %v3243 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3244 = load ptr, ptr %v3243, !invariant.load !0
  %v3245 = getelementptr inbounds i8, ptr %v3244, i64 2621440
  %v3246 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3247 = load ptr, ptr %v3246, !invariant.load !0
  %v3248 = getelementptr inbounds i8, ptr %v3247, i64 2752512
  call void @reduce_fusion_99(ptr %v3245, ptr %v3248)
  %v3249 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3250 = load ptr, ptr %v3249, !invariant.load !0
  %v3251 = getelementptr inbounds i8, ptr %v3250, i64 1884160
  %v3252 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3253 = load ptr, ptr %v3252, !invariant.load !0
  %v3254 = getelementptr inbounds i8, ptr %v3253, i64 5816832
  call void @reduce_fusion_99(ptr %v3251, ptr %v3254)
  %v3255 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3256 = load ptr, ptr %v3255, !invariant.load !0
  %v3257 = getelementptr inbounds i8, ptr %v3256, i64 3899392
  call void @wrapped_tanh_540(ptr %v3257)
  %v3258 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3259 = load ptr, ptr %v3258, !invariant.load !0
  %v3260 = getelementptr inbounds i8, ptr %v3259, i64 4292608
  %v3261 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3262 = load ptr, ptr %v3261, !invariant.load !0
  %v3263 = getelementptr inbounds i8, ptr %v3262, i64 16384
  call void @wrapped_transpose_6(ptr %v3260, ptr %v3263)
  %v3264 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3265 = load ptr, ptr %v3264, !invariant.load !0
  %v3266 = getelementptr inbounds i8, ptr %v3265, i64 5816832
  call void @wrapped_tanh_540(ptr %v3266)
  %v3267 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3268 = load ptr, ptr %v3267, !invariant.load !0
  %v3269 = getelementptr inbounds i8, ptr %v3268, i64 638976
  %v3270 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3271 = load ptr, ptr %v3270, !invariant.load !0
  %v3272 = getelementptr inbounds i8, ptr %v3271, i64 5947904
  call void @reduce_fusion_110(ptr %v3269, ptr %v3272)
  %v3273 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3274 = load ptr, ptr %v3273, !invariant.load !0
  %v3275 = getelementptr inbounds i8, ptr %v3274, i64 5947904
  call void @wrapped_tanh_540(ptr %v3275)
  %v3276 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3277 = load ptr, ptr %v3276, !invariant.load !0
  %v3278 = getelementptr inbounds i8, ptr %v3277, i64 3883008
  %v3279 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3280 = load ptr, ptr %v3279, !invariant.load !0
  %v3281 = getelementptr inbounds i8, ptr %v3280, i64 2506752
  %v3282 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3283 = load ptr, ptr %v3282, !invariant.load !0
  %v3284 = getelementptr inbounds i8, ptr %v3283, i64 3850240
  %v3285 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3286 = load ptr, ptr %v3285, !invariant.load !0
  %v3287 = getelementptr inbounds i8, ptr %v3286, i64 655360
  %v3288 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3289 = load ptr, ptr %v3288, !invariant.load !0
  %v3290 = getelementptr inbounds i8, ptr %v3289, i64 1261568
  %v3291 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3292 = load ptr, ptr %v3291, !invariant.load !0
  %v3293 = getelementptr inbounds i8, ptr %v3292, i64 1343488
  %v3294 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3295 = load ptr, ptr %v3294, !invariant.load !0
  %v3296 = getelementptr inbounds i8, ptr %v3295, i64 573440
  %v3297 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3298 = load ptr, ptr %v3297, !invariant.load !0
  %v3299 = getelementptr inbounds i8, ptr %v3298, i64 3112960
  %v3300 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3301 = load ptr, ptr %v3300, !invariant.load !0
  %v3302 = getelementptr inbounds i8, ptr %v3301, i64 4931584
  %v3303 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3304 = load ptr, ptr %v3303, !invariant.load !0
  %v3305 = getelementptr inbounds i8, ptr %v3304, i64 147456
  %v3306 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3307 = load ptr, ptr %v3306, !invariant.load !0
  %v3308 = getelementptr inbounds i8, ptr %v3307, i64 278528
  %v3309 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3310 = load ptr, ptr %v3309, !invariant.load !0
  %v3311 = getelementptr inbounds i8, ptr %v3310, i64 802816
  %v3312 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3313 = load ptr, ptr %v3312, !invariant.load !0
  %v3314 = getelementptr inbounds i8, ptr %v3313, i64 1064960
  call void @multiply_maximum_minimum_tanh_fusion(ptr %v3278, ptr %v3281, ptr %v3284, ptr %v3287, ptr %v3290, ptr %v3293, ptr %v3296, ptr %v3299, ptr %v3302, ptr %v3305, ptr %v3308, ptr %v3311, ptr %v3314)
  %v3315 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3316 = load ptr, ptr %v3315, !invariant.load !0
  %v3317 = getelementptr inbounds i8, ptr %v3316, i64 950272
  %v3318 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3319 = load ptr, ptr %v3318, !invariant.load !0
  %v3320 = getelementptr inbounds i8, ptr %v3319, i64 16384
  %v3321 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3322 = load ptr, ptr %v3321, !invariant.load !0
  %v3323 = getelementptr inbounds i8, ptr %v3322, i64 2834432
  %v3324 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3325 = load ptr, ptr %v3324, !invariant.load !0
  %v3326 = getelementptr inbounds i8, ptr %v3325, i64 917504
  %v3327 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3328 = load ptr, ptr %v3327, !invariant.load !0
  %v3329 = getelementptr inbounds i8, ptr %v3328, i64 2555904
  %v3330 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3331 = load ptr, ptr %v3330, !invariant.load !0
  %v3332 = getelementptr inbounds i8, ptr %v3331, i64 5947904
  %v3333 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3334 = load ptr, ptr %v3333, !invariant.load !0
  %v3335 = getelementptr inbounds i8, ptr %v3334, i64 2637824
  %v3336 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3337 = load ptr, ptr %v3336, !invariant.load !0
  %v3338 = getelementptr inbounds i8, ptr %v3337, i64 1097728
  %v3339 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3340 = load ptr, ptr %v3339, !invariant.load !0
  %v3341 = getelementptr inbounds i8, ptr %v3340, i64 1671168
  %v3342 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3343 = load ptr, ptr %v3342, !invariant.load !0
  %v3344 = getelementptr inbounds i8, ptr %v3343, i64 1687552
  %v3345 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3346 = load ptr, ptr %v3345, !invariant.load !0
  %v3347 = getelementptr inbounds i8, ptr %v3346, i64 1884160
  %v3348 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3349 = load ptr, ptr %v3348, !invariant.load !0
  %v3350 = getelementptr inbounds i8, ptr %v3349, i64 1916928
  %v3351 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3352 = load ptr, ptr %v3351, !invariant.load !0
  %v3353 = getelementptr inbounds i8, ptr %v3352, i64 1933312
  %v3354 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3355 = load ptr, ptr %v3354, !invariant.load !0
  %v3356 = getelementptr inbounds i8, ptr %v3355, i64 1949696
  %v3357 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3358 = load ptr, ptr %v3357, !invariant.load !0
  %v3359 = getelementptr inbounds i8, ptr %v3358, i64 2015232
  call void @tanh_add_multiply_minimum_fusion(ptr %v3317, ptr %v3320, ptr %v3323, ptr %v3326, ptr %v3329, ptr %v3332, ptr %v3335, ptr %v3338, ptr %v3341, ptr %v3344, ptr %v3347, ptr %v3350, ptr %v3353, ptr %v3356, ptr %v3359)
  %v3360 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3361 = load ptr, ptr %v3360, !invariant.load !0
  %v3362 = getelementptr inbounds i8, ptr %v3361, i64 4997120
  %v3363 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3364 = load ptr, ptr %v3363, !invariant.load !0
  %v3365 = getelementptr inbounds i8, ptr %v3364, i64 2441216
  %v3366 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3367 = load ptr, ptr %v3366, !invariant.load !0
  %v3368 = getelementptr inbounds i8, ptr %v3367, i64 1671168
  %v3369 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3370 = load ptr, ptr %v3369, !invariant.load !0
  %v3371 = getelementptr inbounds i8, ptr %v3370, i64 3899392
  %v3372 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3373 = load ptr, ptr %v3372, !invariant.load !0
  %v3374 = getelementptr inbounds i8, ptr %v3373, i64 606208
  %v3375 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3376 = load ptr, ptr %v3375, !invariant.load !0
  %v3377 = getelementptr inbounds i8, ptr %v3376, i64 147456
  %v3378 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3379 = load ptr, ptr %v3378, !invariant.load !0
  %v3380 = getelementptr inbounds i8, ptr %v3379, i64 2424832
  %v3381 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3382 = load ptr, ptr %v3381, !invariant.load !0
  %v3383 = getelementptr inbounds i8, ptr %v3382, i64 1130496
  %v3384 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3385 = load ptr, ptr %v3384, !invariant.load !0
  %v3386 = getelementptr inbounds i8, ptr %v3385, i64 131072
  %v3387 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3388 = load ptr, ptr %v3387, !invariant.load !0
  %v3389 = getelementptr inbounds i8, ptr %v3388, i64 4636672
  %v3390 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3391 = load ptr, ptr %v3390, !invariant.load !0
  %v3392 = getelementptr inbounds i8, ptr %v3391, i64 737280
  %v3393 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3394 = load ptr, ptr %v3393, !invariant.load !0
  %v3395 = getelementptr inbounds i8, ptr %v3394, i64 2293760
  %v3396 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3397 = load ptr, ptr %v3396, !invariant.load !0
  %v3398 = getelementptr inbounds i8, ptr %v3397, i64 2359296
  %v3399 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3400 = load ptr, ptr %v3399, !invariant.load !0
  %v3401 = getelementptr inbounds i8, ptr %v3400, i64 2523136
  %v3402 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3403 = load ptr, ptr %v3402, !invariant.load !0
  %v3404 = getelementptr inbounds i8, ptr %v3403, i64 2588672
  %v3405 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3406 = load ptr, ptr %v3405, !invariant.load !0
  %v3407 = getelementptr inbounds i8, ptr %v3406, i64 2621440
  call void @minimum_add_maximum_multiply_fusion(ptr %v3362, ptr %v3365, ptr %v3368, ptr %v3371, ptr %v3374, ptr %v3377, ptr %v3380, ptr %v3383, ptr %v3386, ptr %v3389, ptr %v3392, ptr %v3395, ptr %v3398, ptr %v3401, ptr %v3404, ptr %v3407)
  %v3408 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3409 = load ptr, ptr %v3408, !invariant.load !0
  %v3410 = getelementptr inbounds i8, ptr %v3409, i64 2293760
  %v3411 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3412 = load ptr, ptr %v3411, !invariant.load !0
  %v3413 = getelementptr inbounds i8, ptr %v3412, i64 2752768
  call void @reduce_fusion_110(ptr %v3410, ptr %v3413)
  %v3414 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3415 = load ptr, ptr %v3414, !invariant.load !0
  %v3416 = getelementptr inbounds i8, ptr %v3415, i64 2752768
  call void @wrapped_tanh_540(ptr %v3416)
  %v3417 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3418 = load ptr, ptr %v3417, !invariant.load !0
  %v3419 = getelementptr inbounds i8, ptr %v3418, i64 2293760
  %v3420 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3421 = load ptr, ptr %v3420, !invariant.load !0
  %v3422 = getelementptr inbounds i8, ptr %v3421, i64 2752768
  %v3423 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3424 = load ptr, ptr %v3423, !invariant.load !0
  %v3425 = getelementptr inbounds i8, ptr %v3424, i64 5816832
  call void @multiply_add_multiply_fusion_68(ptr %v3419, ptr %v3422, ptr %v3425)
  %v3426 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3427 = load ptr, ptr %v3426, !invariant.load !0
  %v3428 = getelementptr inbounds i8, ptr %v3427, i64 2752512
  %v3429 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3430 = load ptr, ptr %v3429, !invariant.load !0
  %v3431 = getelementptr inbounds i8, ptr %v3430, i64 5587200
  call void @tanh_reduce_fusion_6(ptr %v3428, ptr %v3431)
  %v3432 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3433 = load ptr, ptr %v3432, !invariant.load !0
  %v3434 = getelementptr inbounds i8, ptr %v3433, i64 5587200
  call void @wrapped_tanh_442(ptr %v3434)
  %v3435 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3436 = load ptr, ptr %v3435, !invariant.load !0
  %v3437 = getelementptr inbounds i8, ptr %v3436, i64 4669440
  %v3438 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3439 = load ptr, ptr %v3438, !invariant.load !0
  %v3440 = getelementptr inbounds i8, ptr %v3439, i64 3293184
  call void @reduce_fusion_110(ptr %v3437, ptr %v3440)
  %v3441 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3442 = load ptr, ptr %v3441, !invariant.load !0
  %v3443 = getelementptr inbounds i8, ptr %v3442, i64 3293184
  call void @wrapped_tanh_540(ptr %v3443)
  %v3444 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3445 = load ptr, ptr %v3444, !invariant.load !0
  %v3446 = getelementptr inbounds i8, ptr %v3445, i64 5947648
  call void @tanh_fusion_17(ptr %v3446)
  %v3447 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3448 = load ptr, ptr %v3447, !invariant.load !0
  %v3449 = getelementptr inbounds i8, ptr %v3448, i64 131072
  %v3450 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3451 = load ptr, ptr %v3450, !invariant.load !0
  %v3452 = getelementptr inbounds i8, ptr %v3451, i64 5948160
  call void @reduce_fusion_110(ptr %v3449, ptr %v3452)
  %v3453 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3454 = load ptr, ptr %v3453, !invariant.load !0
  %v3455 = getelementptr inbounds i8, ptr %v3454, i64 5948160
  call void @wrapped_tanh_540(ptr %v3455)
  %v3456 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3457 = load ptr, ptr %v3456, !invariant.load !0
  %v3458 = getelementptr inbounds i8, ptr %v3457, i64 2080768
  %v3459 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3460 = load ptr, ptr %v3459, !invariant.load !0
  %v3461 = getelementptr inbounds i8, ptr %v3460, i64 5948416
  call void @reduce_fusion_99(ptr %v3458, ptr %v3461)
  %v3462 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3463 = load ptr, ptr %v3462, !invariant.load !0
  %v3464 = getelementptr inbounds i8, ptr %v3463, i64 5948416
  call void @wrapped_tanh_540(ptr %v3464)
  %v3465 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3466 = load ptr, ptr %v3465, !invariant.load !0
  %v3467 = getelementptr inbounds i8, ptr %v3466, i64 835584
  %v3468 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3469 = load ptr, ptr %v3468, !invariant.load !0
  %v3470 = getelementptr inbounds i8, ptr %v3469, i64 6651904
  call void @reduce_fusion_110(ptr %v3467, ptr %v3470)
  %v3471 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3472 = load ptr, ptr %v3471, !invariant.load !0
  %v3473 = getelementptr inbounds i8, ptr %v3472, i64 6651904
  call void @wrapped_tanh_540(ptr %v3473)
  %v3474 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3475 = load ptr, ptr %v3474, !invariant.load !0
  %v3476 = getelementptr inbounds i8, ptr %v3475, i64 229376
  %v3477 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3478 = load ptr, ptr %v3477, !invariant.load !0
  %v3479 = getelementptr inbounds i8, ptr %v3478, i64 5948672
  call void @reduce_fusion_99(ptr %v3476, ptr %v3479)
  %v3480 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3481 = load ptr, ptr %v3480, !invariant.load !0
  %v3482 = getelementptr inbounds i8, ptr %v3481, i64 5948672
  call void @wrapped_tanh_540(ptr %v3482)
  %v3483 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3484 = load ptr, ptr %v3483, !invariant.load !0
  %v3485 = getelementptr inbounds i8, ptr %v3484, i64 1048576
  %v3486 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3487 = load ptr, ptr %v3486, !invariant.load !0
  %v3488 = getelementptr inbounds i8, ptr %v3487, i64 1179648
  %v3489 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3490 = load ptr, ptr %v3489, !invariant.load !0
  %v3491 = getelementptr inbounds i8, ptr %v3490, i64 81920
  %v3492 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3493 = load ptr, ptr %v3492, !invariant.load !0
  %v3494 = getelementptr inbounds i8, ptr %v3493, i64 1081344
  %v3495 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3496 = load ptr, ptr %v3495, !invariant.load !0
  %v3497 = getelementptr inbounds i8, ptr %v3496, i64 2654208
  %v3498 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3499 = load ptr, ptr %v3498, !invariant.load !0
  %v3500 = getelementptr inbounds i8, ptr %v3499, i64 1097728
  %v3501 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3502 = load ptr, ptr %v3501, !invariant.load !0
  %v3503 = getelementptr inbounds i8, ptr %v3502, i64 5816576
  %v3504 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3505 = load ptr, ptr %v3504, !invariant.load !0
  %v3506 = getelementptr inbounds i8, ptr %v3505, i64 3293184
  %v3507 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3508 = load ptr, ptr %v3507, !invariant.load !0
  %v3509 = getelementptr inbounds i8, ptr %v3508, i64 5013504
  %v3510 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3511 = load ptr, ptr %v3510, !invariant.load !0
  %v3512 = getelementptr inbounds i8, ptr %v3511, i64 2752512
  %v3513 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3514 = load ptr, ptr %v3513, !invariant.load !0
  %v3515 = getelementptr inbounds i8, ptr %v3514, i64 2801664
  %v3516 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3517 = load ptr, ptr %v3516, !invariant.load !0
  %v3518 = getelementptr inbounds i8, ptr %v3517, i64 3080192
  %v3519 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3520 = load ptr, ptr %v3519, !invariant.load !0
  %v3521 = getelementptr inbounds i8, ptr %v3520, i64 3260416
  call void @minimum_multiply_subtract_maximum_fusion(ptr %v3485, ptr %v3488, ptr %v3491, ptr %v3494, ptr %v3497, ptr %v3500, ptr %v3503, ptr %v3506, ptr %v3509, ptr %v3512, ptr %v3515, ptr %v3518, ptr %v3521)
  %v3522 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3523 = load ptr, ptr %v3522, !invariant.load !0
  %v3524 = getelementptr inbounds i8, ptr %v3523, i64 1507328
  %v3525 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3526 = load ptr, ptr %v3525, !invariant.load !0
  %v3527 = getelementptr inbounds i8, ptr %v3526, i64 999424
  %v3528 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3529 = load ptr, ptr %v3528, !invariant.load !0
  %v3530 = getelementptr inbounds i8, ptr %v3529, i64 2473984
  %v3531 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3532 = load ptr, ptr %v3531, !invariant.load !0
  %v3533 = getelementptr inbounds i8, ptr %v3532, i64 1998848
  %v3534 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3535 = load ptr, ptr %v3534, !invariant.load !0
  %v3536 = getelementptr inbounds i8, ptr %v3535, i64 1441792
  %v3537 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3538 = load ptr, ptr %v3537, !invariant.load !0
  %v3539 = getelementptr inbounds i8, ptr %v3538, i64 1425408
  %v3540 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3541 = load ptr, ptr %v3540, !invariant.load !0
  %v3542 = getelementptr inbounds i8, ptr %v3541, i64 2228224
  %v3543 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3544 = load ptr, ptr %v3543, !invariant.load !0
  %v3545 = getelementptr inbounds i8, ptr %v3544, i64 3293184
  %v3546 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3547 = load ptr, ptr %v3546, !invariant.load !0
  %v3548 = getelementptr inbounds i8, ptr %v3547, i64 3342336
  %v3549 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3550 = load ptr, ptr %v3549, !invariant.load !0
  %v3551 = getelementptr inbounds i8, ptr %v3550, i64 3375104
  %v3552 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3553 = load ptr, ptr %v3552, !invariant.load !0
  %v3554 = getelementptr inbounds i8, ptr %v3553, i64 3440640
  %v3555 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3556 = load ptr, ptr %v3555, !invariant.load !0
  %v3557 = getelementptr inbounds i8, ptr %v3556, i64 3604480
  call void @multiply_tanh_minimum_fusion_5(ptr %v3524, ptr %v3527, ptr %v3530, ptr %v3533, ptr %v3536, ptr %v3539, ptr %v3542, ptr %v3545, ptr %v3548, ptr %v3551, ptr %v3554, ptr %v3557)
  %v3558 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3559 = load ptr, ptr %v3558, !invariant.load !0
  %v3560 = getelementptr inbounds i8, ptr %v3559, i64 4374528
  %v3561 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3562 = load ptr, ptr %v3561, !invariant.load !0
  %v3563 = getelementptr inbounds i8, ptr %v3562, i64 2572288
  %v3564 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3565 = load ptr, ptr %v3564, !invariant.load !0
  %v3566 = getelementptr inbounds i8, ptr %v3565, i64 2949120
  %v3567 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3568 = load ptr, ptr %v3567, !invariant.load !0
  %v3569 = getelementptr inbounds i8, ptr %v3568, i64 1523712
  %v3570 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3571 = load ptr, ptr %v3570, !invariant.load !0
  %v3572 = getelementptr inbounds i8, ptr %v3571, i64 1753088
  %v3573 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3574 = load ptr, ptr %v3573, !invariant.load !0
  %v3575 = getelementptr inbounds i8, ptr %v3574, i64 802816
  %v3576 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3577 = load ptr, ptr %v3576, !invariant.load !0
  %v3578 = getelementptr inbounds i8, ptr %v3577, i64 1441792
  %v3579 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3580 = load ptr, ptr %v3579, !invariant.load !0
  %v3581 = getelementptr inbounds i8, ptr %v3580, i64 5947904
  %v3582 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3583 = load ptr, ptr %v3582, !invariant.load !0
  %v3584 = getelementptr inbounds i8, ptr %v3583, i64 327680
  %v3585 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3586 = load ptr, ptr %v3585, !invariant.load !0
  %v3587 = getelementptr inbounds i8, ptr %v3586, i64 4997120
  %v3588 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3589 = load ptr, ptr %v3588, !invariant.load !0
  %v3590 = getelementptr inbounds i8, ptr %v3589, i64 2654208
  %v3591 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3592 = load ptr, ptr %v3591, !invariant.load !0
  %v3593 = getelementptr inbounds i8, ptr %v3592, i64 2801664
  %v3594 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3595 = load ptr, ptr %v3594, !invariant.load !0
  %v3596 = getelementptr inbounds i8, ptr %v3595, i64 5948416
  %v3597 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3598 = load ptr, ptr %v3597, !invariant.load !0
  %v3599 = getelementptr inbounds i8, ptr %v3598, i64 737280
  %v3600 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3601 = load ptr, ptr %v3600, !invariant.load !0
  %v3602 = getelementptr inbounds i8, ptr %v3601, i64 3899392
  %v3603 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3604 = load ptr, ptr %v3603, !invariant.load !0
  %v3605 = getelementptr inbounds i8, ptr %v3604, i64 3620864
  %v3606 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3607 = load ptr, ptr %v3606, !invariant.load !0
  %v3608 = getelementptr inbounds i8, ptr %v3607, i64 3719168
  %v3609 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3610 = load ptr, ptr %v3609, !invariant.load !0
  %v3611 = getelementptr inbounds i8, ptr %v3610, i64 3751936
  call void @maximum_multiply_add_subtract_fusion(ptr %v3560, ptr %v3563, ptr %v3566, ptr %v3569, ptr %v3572, ptr %v3575, ptr %v3578, ptr %v3581, ptr %v3584, ptr %v3587, ptr %v3590, ptr %v3593, ptr %v3596, ptr %v3599, ptr %v3602, ptr %v3605, ptr %v3608, ptr %v3611)
  %v3612 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3613 = load ptr, ptr %v3612, !invariant.load !0
  %v3614 = getelementptr inbounds i8, ptr %v3613, i64 1572864
  %v3615 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3616 = load ptr, ptr %v3615, !invariant.load !0
  %v3617 = getelementptr inbounds i8, ptr %v3616, i64 4866048
  %v3618 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3619 = load ptr, ptr %v3618, !invariant.load !0
  %v3620 = getelementptr inbounds i8, ptr %v3619, i64 4194304
  %v3621 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3622 = load ptr, ptr %v3621, !invariant.load !0
  %v3623 = getelementptr inbounds i8, ptr %v3622, i64 3260416
  %v3624 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3625 = load ptr, ptr %v3624, !invariant.load !0
  %v3626 = getelementptr inbounds i8, ptr %v3625, i64 2572288
  %v3627 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3628 = load ptr, ptr %v3627, !invariant.load !0
  %v3629 = getelementptr inbounds i8, ptr %v3628, i64 3457024
  %v3630 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3631 = load ptr, ptr %v3630, !invariant.load !0
  %v3632 = getelementptr inbounds i8, ptr %v3631, i64 4128768
  %v3633 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3634 = load ptr, ptr %v3633, !invariant.load !0
  %v3635 = getelementptr inbounds i8, ptr %v3634, i64 3145728
  %v3636 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3637 = load ptr, ptr %v3636, !invariant.load !0
  %v3638 = getelementptr inbounds i8, ptr %v3637, i64 704512
  %v3639 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3640 = load ptr, ptr %v3639, !invariant.load !0
  %v3641 = getelementptr inbounds i8, ptr %v3640, i64 3899392
  %v3642 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3643 = load ptr, ptr %v3642, !invariant.load !0
  %v3644 = getelementptr inbounds i8, ptr %v3643, i64 3948544
  %v3645 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3646 = load ptr, ptr %v3645, !invariant.load !0
  %v3647 = getelementptr inbounds i8, ptr %v3646, i64 3981312
  %v3648 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3649 = load ptr, ptr %v3648, !invariant.load !0
  %v3650 = getelementptr inbounds i8, ptr %v3649, i64 4112384
  call void @add_tanh_multiply_subtract_fusion(ptr %v3614, ptr %v3617, ptr %v3620, ptr %v3623, ptr %v3626, ptr %v3629, ptr %v3632, ptr %v3635, ptr %v3638, ptr %v3641, ptr %v3644, ptr %v3647, ptr %v3650)
  %v3651 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3652 = load ptr, ptr %v3651, !invariant.load !0
  %v3653 = getelementptr inbounds i8, ptr %v3652, i64 4456448
  %v3654 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3655 = load ptr, ptr %v3654, !invariant.load !0
  %v3656 = getelementptr inbounds i8, ptr %v3655, i64 933888
  %v3657 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3658 = load ptr, ptr %v3657, !invariant.load !0
  %v3659 = getelementptr inbounds i8, ptr %v3658, i64 655360
  %v3660 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3661 = load ptr, ptr %v3660, !invariant.load !0
  %v3662 = getelementptr inbounds i8, ptr %v3661, i64 540672
  %v3663 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3664 = load ptr, ptr %v3663, !invariant.load !0
  %v3665 = getelementptr inbounds i8, ptr %v3664, i64 5032448
  %v3666 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3667 = load ptr, ptr %v3666, !invariant.load !0
  %v3668 = getelementptr inbounds i8, ptr %v3667, i64 3506176
  %v3669 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3670 = load ptr, ptr %v3669, !invariant.load !0
  %v3671 = getelementptr inbounds i8, ptr %v3670, i64 1146880
  %v3672 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3673 = load ptr, ptr %v3672, !invariant.load !0
  %v3674 = getelementptr inbounds i8, ptr %v3673, i64 5033216
  %v3675 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3676 = load ptr, ptr %v3675, !invariant.load !0
  %v3677 = getelementptr inbounds i8, ptr %v3676, i64 4358144
  %v3678 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3679 = load ptr, ptr %v3678, !invariant.load !0
  %v3680 = getelementptr inbounds i8, ptr %v3679, i64 4292608
  %v3681 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3682 = load ptr, ptr %v3681, !invariant.load !0
  %v3683 = getelementptr inbounds i8, ptr %v3682, i64 4390912
  %v3684 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3685 = load ptr, ptr %v3684, !invariant.load !0
  %v3686 = getelementptr inbounds i8, ptr %v3685, i64 4505600
  %v3687 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3688 = load ptr, ptr %v3687, !invariant.load !0
  %v3689 = getelementptr inbounds i8, ptr %v3688, i64 4538368
  %v3690 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3691 = load ptr, ptr %v3690, !invariant.load !0
  %v3692 = getelementptr inbounds i8, ptr %v3691, i64 4554752
  %v3693 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3694 = load ptr, ptr %v3693, !invariant.load !0
  %v3695 = getelementptr inbounds i8, ptr %v3694, i64 4587520
  call void @tanh_maximum_multiply_subtract_fusion(ptr %v3653, ptr %v3656, ptr %v3659, ptr %v3662, ptr %v3665, ptr %v3668, ptr %v3671, ptr %v3674, ptr %v3677, ptr %v3680, ptr %v3683, ptr %v3686, ptr %v3689, ptr %v3692, ptr %v3695)
  %v3696 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3697 = load ptr, ptr %v3696, !invariant.load !0
  %v3698 = getelementptr inbounds i8, ptr %v3697, i64 4014080
  %v3699 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3700 = load ptr, ptr %v3699, !invariant.load !0
  %v3701 = getelementptr inbounds i8, ptr %v3700, i64 3407872
  %v3702 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3703 = load ptr, ptr %v3702, !invariant.load !0
  %v3704 = getelementptr inbounds i8, ptr %v3703, i64 2097152
  %v3705 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3706 = load ptr, ptr %v3705, !invariant.load !0
  %v3707 = getelementptr inbounds i8, ptr %v3706, i64 688128
  %v3708 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3709 = load ptr, ptr %v3708, !invariant.load !0
  %v3710 = getelementptr inbounds i8, ptr %v3709, i64 4669440
  %v3711 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3712 = load ptr, ptr %v3711, !invariant.load !0
  %v3713 = getelementptr inbounds i8, ptr %v3712, i64 3915776
  %v3714 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3715 = load ptr, ptr %v3714, !invariant.load !0
  %v3716 = getelementptr inbounds i8, ptr %v3715, i64 4620288
  %v3717 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3718 = load ptr, ptr %v3717, !invariant.load !0
  %v3719 = getelementptr inbounds i8, ptr %v3718, i64 4079616
  %v3720 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3721 = load ptr, ptr %v3720, !invariant.load !0
  %v3722 = getelementptr inbounds i8, ptr %v3721, i64 999424
  %v3723 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3724 = load ptr, ptr %v3723, !invariant.load !0
  %v3725 = getelementptr inbounds i8, ptr %v3724, i64 5046272
  %v3726 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3727 = load ptr, ptr %v3726, !invariant.load !0
  %v3728 = getelementptr inbounds i8, ptr %v3727, i64 393216
  %v3729 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3730 = load ptr, ptr %v3729, !invariant.load !0
  %v3731 = getelementptr inbounds i8, ptr %v3730, i64 4456448
  %v3732 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3733 = load ptr, ptr %v3732, !invariant.load !0
  %v3734 = getelementptr inbounds i8, ptr %v3733, i64 4636672
  %v3735 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3736 = load ptr, ptr %v3735, !invariant.load !0
  %v3737 = getelementptr inbounds i8, ptr %v3736, i64 4833280
  %v3738 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3739 = load ptr, ptr %v3738, !invariant.load !0
  %v3740 = getelementptr inbounds i8, ptr %v3739, i64 4882432
  %v3741 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3742 = load ptr, ptr %v3741, !invariant.load !0
  %v3743 = getelementptr inbounds i8, ptr %v3742, i64 4947968
  %v3744 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3745 = load ptr, ptr %v3744, !invariant.load !0
  %v3746 = getelementptr inbounds i8, ptr %v3745, i64 5029888
  call void @multiply_tanh_minimum_maximum_fusion(ptr %v3698, ptr %v3701, ptr %v3704, ptr %v3707, ptr %v3710, ptr %v3713, ptr %v3716, ptr %v3719, ptr %v3722, ptr %v3725, ptr %v3728, ptr %v3731, ptr %v3734, ptr %v3737, ptr %v3740, ptr %v3743, ptr %v3746)
  %v3747 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3748 = load ptr, ptr %v3747, !invariant.load !0
  %v3749 = getelementptr inbounds i8, ptr %v3748, i64 3538944
  %v3750 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3751 = load ptr, ptr %v3750, !invariant.load !0
  %v3752 = getelementptr inbounds i8, ptr %v3751, i64 4751360
  %v3753 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3754 = load ptr, ptr %v3753, !invariant.load !0
  %v3755 = getelementptr inbounds i8, ptr %v3754, i64 3112960
  %v3756 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3757 = load ptr, ptr %v3756, !invariant.load !0
  %v3758 = getelementptr inbounds i8, ptr %v3757, i64 196608
  %v3759 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3760 = load ptr, ptr %v3759, !invariant.load !0
  %v3761 = getelementptr inbounds i8, ptr %v3760, i64 2555904
  %v3762 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3763 = load ptr, ptr %v3762, !invariant.load !0
  %v3764 = getelementptr inbounds i8, ptr %v3763, i64 5586944
  %v3765 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3766 = load ptr, ptr %v3765, !invariant.load !0
  %v3767 = getelementptr inbounds i8, ptr %v3766, i64 4259840
  %v3768 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3769 = load ptr, ptr %v3768, !invariant.load !0
  %v3770 = getelementptr inbounds i8, ptr %v3769, i64 5948416
  %v3771 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3772 = load ptr, ptr %v3771, !invariant.load !0
  %v3773 = getelementptr inbounds i8, ptr %v3772, i64 5046272
  %v3774 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3775 = load ptr, ptr %v3774, !invariant.load !0
  %v3776 = getelementptr inbounds i8, ptr %v3775, i64 5062656
  %v3777 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3778 = load ptr, ptr %v3777, !invariant.load !0
  %v3779 = getelementptr inbounds i8, ptr %v3778, i64 5079040
  %v3780 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3781 = load ptr, ptr %v3780, !invariant.load !0
  %v3782 = getelementptr inbounds i8, ptr %v3781, i64 5095424
  %v3783 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3784 = load ptr, ptr %v3783, !invariant.load !0
  %v3785 = getelementptr inbounds i8, ptr %v3784, i64 5111808
  %v3786 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3787 = load ptr, ptr %v3786, !invariant.load !0
  %v3788 = getelementptr inbounds i8, ptr %v3787, i64 5128192
  %v3789 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3790 = load ptr, ptr %v3789, !invariant.load !0
  %v3791 = getelementptr inbounds i8, ptr %v3790, i64 5144576
  call void @maximum_multiply_tanh_fusion_6(ptr %v3749, ptr %v3752, ptr %v3755, ptr %v3758, ptr %v3761, ptr %v3764, ptr %v3767, ptr %v3770, ptr %v3773, ptr %v3776, ptr %v3779, ptr %v3782, ptr %v3785, ptr %v3788, ptr %v3791)
  %v3792 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3793 = load ptr, ptr %v3792, !invariant.load !0
  %v3794 = getelementptr inbounds i8, ptr %v3793, i64 2670592
  %v3795 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3796 = load ptr, ptr %v3795, !invariant.load !0
  %v3797 = getelementptr inbounds i8, ptr %v3796, i64 4538368
  %v3798 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3799 = load ptr, ptr %v3798, !invariant.load !0
  %v3800 = getelementptr inbounds i8, ptr %v3799, i64 5947648
  %v3801 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3802 = load ptr, ptr %v3801, !invariant.load !0
  %v3803 = getelementptr inbounds i8, ptr %v3802, i64 1392640
  %v3804 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3805 = load ptr, ptr %v3804, !invariant.load !0
  %v3806 = getelementptr inbounds i8, ptr %v3805, i64 4423680
  %v3807 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3808 = load ptr, ptr %v3807, !invariant.load !0
  %v3809 = getelementptr inbounds i8, ptr %v3808, i64 573440
  %v3810 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3811 = load ptr, ptr %v3810, !invariant.load !0
  %v3812 = getelementptr inbounds i8, ptr %v3811, i64 3620864
  %v3813 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3814 = load ptr, ptr %v3813, !invariant.load !0
  %v3815 = getelementptr inbounds i8, ptr %v3814, i64 4046848
  %v3816 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3817 = load ptr, ptr %v3816, !invariant.load !0
  %v3818 = getelementptr inbounds i8, ptr %v3817, i64 5079040
  %v3819 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3820 = load ptr, ptr %v3819, !invariant.load !0
  %v3821 = getelementptr inbounds i8, ptr %v3820, i64 98304
  %v3822 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3823 = load ptr, ptr %v3822, !invariant.load !0
  %v3824 = getelementptr inbounds i8, ptr %v3823, i64 5948672
  %v3825 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3826 = load ptr, ptr %v3825, !invariant.load !0
  %v3827 = getelementptr inbounds i8, ptr %v3826, i64 2293760
  %v3828 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3829 = load ptr, ptr %v3828, !invariant.load !0
  %v3830 = getelementptr inbounds i8, ptr %v3829, i64 5160960
  %v3831 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3832 = load ptr, ptr %v3831, !invariant.load !0
  %v3833 = getelementptr inbounds i8, ptr %v3832, i64 5177344
  %v3834 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3835 = load ptr, ptr %v3834, !invariant.load !0
  %v3836 = getelementptr inbounds i8, ptr %v3835, i64 5193728
  %v3837 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3838 = load ptr, ptr %v3837, !invariant.load !0
  %v3839 = getelementptr inbounds i8, ptr %v3838, i64 5210112
  %v3840 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3841 = load ptr, ptr %v3840, !invariant.load !0
  %v3842 = getelementptr inbounds i8, ptr %v3841, i64 5226496
  %v3843 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3844 = load ptr, ptr %v3843, !invariant.load !0
  %v3845 = getelementptr inbounds i8, ptr %v3844, i64 5242880
  %v3846 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3847 = load ptr, ptr %v3846, !invariant.load !0
  %v3848 = getelementptr inbounds i8, ptr %v3847, i64 5259264
  %v3849 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3850 = load ptr, ptr %v3849, !invariant.load !0
  %v3851 = getelementptr inbounds i8, ptr %v3850, i64 5275648
  call void @multiply_minimum_maximum_tanh_fusion(ptr %v3794, ptr %v3797, ptr %v3800, ptr %v3803, ptr %v3806, ptr %v3809, ptr %v3812, ptr %v3815, ptr %v3818, ptr %v3821, ptr %v3824, ptr %v3827, ptr %v3830, ptr %v3833, ptr %v3836, ptr %v3839, ptr %v3842, ptr %v3845, ptr %v3848, ptr %v3851)
  %v3852 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3853 = load ptr, ptr %v3852, !invariant.load !0
  %v3854 = getelementptr inbounds i8, ptr %v3853, i64 2162688
  %v3855 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3856 = load ptr, ptr %v3855, !invariant.load !0
  %v3857 = getelementptr inbounds i8, ptr %v3856, i64 5029888
  %v3858 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3859 = load ptr, ptr %v3858, !invariant.load !0
  %v3860 = getelementptr inbounds i8, ptr %v3859, i64 4587520
  %v3861 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3862 = load ptr, ptr %v3861, !invariant.load !0
  %v3863 = getelementptr inbounds i8, ptr %v3862, i64 3702784
  %v3864 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3865 = load ptr, ptr %v3864, !invariant.load !0
  %v3866 = getelementptr inbounds i8, ptr %v3865, i64 4308992
  %v3867 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3868 = load ptr, ptr %v3867, !invariant.load !0
  %v3869 = getelementptr inbounds i8, ptr %v3868, i64 2572288
  %v3870 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3871 = load ptr, ptr %v3870, !invariant.load !0
  %v3872 = getelementptr inbounds i8, ptr %v3871, i64 180224
  %v3873 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3874 = load ptr, ptr %v3873, !invariant.load !0
  %v3875 = getelementptr inbounds i8, ptr %v3874, i64 5210112
  %v3876 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3877 = load ptr, ptr %v3876, !invariant.load !0
  %v3878 = getelementptr inbounds i8, ptr %v3877, i64 5242880
  %v3879 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3880 = load ptr, ptr %v3879, !invariant.load !0
  %v3881 = getelementptr inbounds i8, ptr %v3880, i64 1671168
  %v3882 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3883 = load ptr, ptr %v3882, !invariant.load !0
  %v3884 = getelementptr inbounds i8, ptr %v3883, i64 32768
  %v3885 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3886 = load ptr, ptr %v3885, !invariant.load !0
  %v3887 = getelementptr inbounds i8, ptr %v3886, i64 5292032
  %v3888 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3889 = load ptr, ptr %v3888, !invariant.load !0
  %v3890 = getelementptr inbounds i8, ptr %v3889, i64 5308416
  %v3891 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3892 = load ptr, ptr %v3891, !invariant.load !0
  %v3893 = getelementptr inbounds i8, ptr %v3892, i64 5324800
  %v3894 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3895 = load ptr, ptr %v3894, !invariant.load !0
  %v3896 = getelementptr inbounds i8, ptr %v3895, i64 5341184
  %v3897 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3898 = load ptr, ptr %v3897, !invariant.load !0
  %v3899 = getelementptr inbounds i8, ptr %v3898, i64 5357568
  call void @multiply_maximum_add_fusion_6(ptr %v3854, ptr %v3857, ptr %v3860, ptr %v3863, ptr %v3866, ptr %v3869, ptr %v3872, ptr %v3875, ptr %v3878, ptr %v3881, ptr %v3884, ptr %v3887, ptr %v3890, ptr %v3893, ptr %v3896, ptr %v3899)
  %v3900 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3901 = load ptr, ptr %v3900, !invariant.load !0
  %v3902 = getelementptr inbounds i8, ptr %v3901, i64 2572288
  %v3903 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3904 = load ptr, ptr %v3903, !invariant.load !0
  %v3905 = getelementptr inbounds i8, ptr %v3904, i64 5948928
  call void @reduce_fusion_110(ptr %v3902, ptr %v3905)
  %v3906 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3907 = load ptr, ptr %v3906, !invariant.load !0
  %v3908 = getelementptr inbounds i8, ptr %v3907, i64 5948928
  call void @wrapped_tanh_540(ptr %v3908)
  %v3909 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3910 = load ptr, ptr %v3909, !invariant.load !0
  %v3911 = getelementptr inbounds i8, ptr %v3910, i64 5587200
  %v3912 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3913 = load ptr, ptr %v3912, !invariant.load !0
  %v3914 = getelementptr inbounds i8, ptr %v3913, i64 5439488
  call void @wrapped_tanh_366(ptr %v3911, ptr %v3914)
  %v3915 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3916 = load ptr, ptr %v3915, !invariant.load !0
  %v3917 = getelementptr inbounds i8, ptr %v3916, i64 5948416
  %v3918 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3919 = load ptr, ptr %v3918, !invariant.load !0
  %v3920 = getelementptr inbounds i8, ptr %v3919, i64 5949184
  call void @wrapped_tanh_533(ptr %v3917, ptr %v3920)
  %v3921 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3922 = load ptr, ptr %v3921, !invariant.load !0
  %v3923 = getelementptr inbounds i8, ptr %v3922, i64 901120
  %v3924 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3925 = load ptr, ptr %v3924, !invariant.load !0
  %v3926 = getelementptr inbounds i8, ptr %v3925, i64 5949184
  %v3927 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3928 = load ptr, ptr %v3927, !invariant.load !0
  %v3929 = getelementptr inbounds i8, ptr %v3928, i64 4915200
  %v3930 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3931 = load ptr, ptr %v3930, !invariant.load !0
  %v3932 = getelementptr inbounds i8, ptr %v3931, i64 3571712
  %v3933 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3934 = load ptr, ptr %v3933, !invariant.load !0
  %v3935 = getelementptr inbounds i8, ptr %v3934, i64 3997696
  %v3936 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3937 = load ptr, ptr %v3936, !invariant.load !0
  %v3938 = getelementptr inbounds i8, ptr %v3937, i64 2899968
  %v3939 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3940 = load ptr, ptr %v3939, !invariant.load !0
  %v3941 = getelementptr inbounds i8, ptr %v3940, i64 5439488
  %v3942 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3943 = load ptr, ptr %v3942, !invariant.load !0
  %v3944 = getelementptr inbounds i8, ptr %v3943, i64 4947968
  %v3945 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3946 = load ptr, ptr %v3945, !invariant.load !0
  %v3947 = getelementptr inbounds i8, ptr %v3946, i64 622592
  %v3948 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3949 = load ptr, ptr %v3948, !invariant.load !0
  %v3950 = getelementptr inbounds i8, ptr %v3949, i64 868352
  %v3951 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3952 = load ptr, ptr %v3951, !invariant.load !0
  %v3953 = getelementptr inbounds i8, ptr %v3952, i64 1884160
  %v3954 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3955 = load ptr, ptr %v3954, !invariant.load !0
  %v3956 = getelementptr inbounds i8, ptr %v3955, i64 5373952
  %v3957 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3958 = load ptr, ptr %v3957, !invariant.load !0
  %v3959 = getelementptr inbounds i8, ptr %v3958, i64 5390336
  %v3960 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3961 = load ptr, ptr %v3960, !invariant.load !0
  %v3962 = getelementptr inbounds i8, ptr %v3961, i64 5406720
  %v3963 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3964 = load ptr, ptr %v3963, !invariant.load !0
  %v3965 = getelementptr inbounds i8, ptr %v3964, i64 5423104
  call void @multiply_tanh_maximum_fusion_8(ptr %v3923, ptr %v3926, ptr %v3929, ptr %v3932, ptr %v3935, ptr %v3938, ptr %v3941, ptr %v3944, ptr %v3947, ptr %v3950, ptr %v3953, ptr %v3956, ptr %v3959, ptr %v3962, ptr %v3965)
  %v3966 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3967 = load ptr, ptr %v3966, !invariant.load !0
  %v3968 = getelementptr inbounds i8, ptr %v3967, i64 3686400
  %v3969 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3970 = load ptr, ptr %v3969, !invariant.load !0
  %v3971 = getelementptr inbounds i8, ptr %v3970, i64 4358144
  %v3972 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3973 = load ptr, ptr %v3972, !invariant.load !0
  %v3974 = getelementptr inbounds i8, ptr %v3973, i64 868352
  %v3975 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3976 = load ptr, ptr %v3975, !invariant.load !0
  %v3977 = getelementptr inbounds i8, ptr %v3976, i64 1720320
  %v3978 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3979 = load ptr, ptr %v3978, !invariant.load !0
  %v3980 = getelementptr inbounds i8, ptr %v3979, i64 5948928
  %v3981 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3982 = load ptr, ptr %v3981, !invariant.load !0
  %v3983 = getelementptr inbounds i8, ptr %v3982, i64 5439488
  %v3984 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3985 = load ptr, ptr %v3984, !invariant.load !0
  %v3986 = getelementptr inbounds i8, ptr %v3985, i64 5455872
  call void @multiply_fusion_71(ptr %v3968, ptr %v3971, ptr %v3974, ptr %v3977, ptr %v3980, ptr %v3983, ptr %v3986)
  %v3987 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3988 = load ptr, ptr %v3987, !invariant.load !0
  %v3989 = getelementptr inbounds i8, ptr %v3988, i64 3489792
  %v3990 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3991 = load ptr, ptr %v3990, !invariant.load !0
  %v3992 = getelementptr inbounds i8, ptr %v3991, i64 1228800
  %v3993 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3994 = load ptr, ptr %v3993, !invariant.load !0
  %v3995 = getelementptr inbounds i8, ptr %v3994, i64 2080768
  %v3996 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v3997 = load ptr, ptr %v3996, !invariant.load !0
  %v3998 = getelementptr inbounds i8, ptr %v3997, i64 638976
  %v3999 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4000 = load ptr, ptr %v3999, !invariant.load !0
  %v4001 = getelementptr inbounds i8, ptr %v4000, i64 4489216
  %v4002 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4003 = load ptr, ptr %v4002, !invariant.load !0
  %v4004 = getelementptr inbounds i8, ptr %v4003, i64 606208
  %v4005 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4006 = load ptr, ptr %v4005, !invariant.load !0
  %v4007 = getelementptr inbounds i8, ptr %v4006, i64 3440640
  %v4008 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4009 = load ptr, ptr %v4008, !invariant.load !0
  %v4010 = getelementptr inbounds i8, ptr %v4009, i64 475136
  %v4011 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4012 = load ptr, ptr %v4011, !invariant.load !0
  %v4013 = getelementptr inbounds i8, ptr %v4012, i64 1851392
  %v4014 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4015 = load ptr, ptr %v4014, !invariant.load !0
  %v4016 = getelementptr inbounds i8, ptr %v4015, i64 622592
  %v4017 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4018 = load ptr, ptr %v4017, !invariant.load !0
  %v4019 = getelementptr inbounds i8, ptr %v4018, i64 5472256
  %v4020 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4021 = load ptr, ptr %v4020, !invariant.load !0
  %v4022 = getelementptr inbounds i8, ptr %v4021, i64 5488640
  %v4023 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4024 = load ptr, ptr %v4023, !invariant.load !0
  %v4025 = getelementptr inbounds i8, ptr %v4024, i64 5505024
  call void @multiply_maximum_subtract_fusion_6(ptr %v3989, ptr %v3992, ptr %v3995, ptr %v3998, ptr %v4001, ptr %v4004, ptr %v4007, ptr %v4010, ptr %v4013, ptr %v4016, ptr %v4019, ptr %v4022, ptr %v4025)
  %v4026 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4027 = load ptr, ptr %v4026, !invariant.load !0
  %v4028 = getelementptr inbounds i8, ptr %v4027, i64 2080768
  %v4029 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4030 = load ptr, ptr %v4029, !invariant.load !0
  %v4031 = getelementptr inbounds i8, ptr %v4030, i64 1622016
  %v4032 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4033 = load ptr, ptr %v4032, !invariant.load !0
  %v4034 = getelementptr inbounds i8, ptr %v4033, i64 4898816
  %v4035 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4036 = load ptr, ptr %v4035, !invariant.load !0
  %v4037 = getelementptr inbounds i8, ptr %v4036, i64 2310144
  %v4038 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4039 = load ptr, ptr %v4038, !invariant.load !0
  %v4040 = getelementptr inbounds i8, ptr %v4039, i64 3080192
  %v4041 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4042 = load ptr, ptr %v4041, !invariant.load !0
  %v4043 = getelementptr inbounds i8, ptr %v4042, i64 5948160
  %v4044 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4045 = load ptr, ptr %v4044, !invariant.load !0
  %v4046 = getelementptr inbounds i8, ptr %v4045, i64 2621440
  %v4047 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4048 = load ptr, ptr %v4047, !invariant.load !0
  %v4049 = getelementptr inbounds i8, ptr %v4048, i64 4456448
  %v4050 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4051 = load ptr, ptr %v4050, !invariant.load !0
  %v4052 = getelementptr inbounds i8, ptr %v4051, i64 2867200
  %v4053 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4054 = load ptr, ptr %v4053, !invariant.load !0
  %v4055 = getelementptr inbounds i8, ptr %v4054, i64 1474560
  %v4056 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4057 = load ptr, ptr %v4056, !invariant.load !0
  %v4058 = getelementptr inbounds i8, ptr %v4057, i64 6651904
  %v4059 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4060 = load ptr, ptr %v4059, !invariant.load !0
  %v4061 = getelementptr inbounds i8, ptr %v4060, i64 3686400
  %v4062 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4063 = load ptr, ptr %v4062, !invariant.load !0
  %v4064 = getelementptr inbounds i8, ptr %v4063, i64 5521408
  %v4065 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4066 = load ptr, ptr %v4065, !invariant.load !0
  %v4067 = getelementptr inbounds i8, ptr %v4066, i64 5537792
  %v4068 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4069 = load ptr, ptr %v4068, !invariant.load !0
  %v4070 = getelementptr inbounds i8, ptr %v4069, i64 5554176
  %v4071 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4072 = load ptr, ptr %v4071, !invariant.load !0
  %v4073 = getelementptr inbounds i8, ptr %v4072, i64 5570560
  call void @add_multiply_minimum_fusion_12(ptr %v4028, ptr %v4031, ptr %v4034, ptr %v4037, ptr %v4040, ptr %v4043, ptr %v4046, ptr %v4049, ptr %v4052, ptr %v4055, ptr %v4058, ptr %v4061, ptr %v4064, ptr %v4067, ptr %v4070, ptr %v4073)
  %v4074 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4075 = load ptr, ptr %v4074, !invariant.load !0
  %v4076 = getelementptr inbounds i8, ptr %v4075, i64 2605056
  %v4077 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4078 = load ptr, ptr %v4077, !invariant.load !0
  %v4079 = getelementptr inbounds i8, ptr %v4078, i64 3014656
  %v4080 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4081 = load ptr, ptr %v4080, !invariant.load !0
  %v4082 = getelementptr inbounds i8, ptr %v4081, i64 3670016
  %v4083 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4084 = load ptr, ptr %v4083, !invariant.load !0
  %v4085 = getelementptr inbounds i8, ptr %v4084, i64 1867776
  %v4086 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4087 = load ptr, ptr %v4086, !invariant.load !0
  %v4088 = getelementptr inbounds i8, ptr %v4087, i64 1490944
  %v4089 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4090 = load ptr, ptr %v4089, !invariant.load !0
  %v4091 = getelementptr inbounds i8, ptr %v4090, i64 1310720
  %v4092 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4093 = load ptr, ptr %v4092, !invariant.load !0
  %v4094 = getelementptr inbounds i8, ptr %v4093, i64 1327104
  %v4095 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4096 = load ptr, ptr %v4095, !invariant.load !0
  %v4097 = getelementptr inbounds i8, ptr %v4096, i64 1228800
  %v4098 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4099 = load ptr, ptr %v4098, !invariant.load !0
  %v4100 = getelementptr inbounds i8, ptr %v4099, i64 2146304
  %v4101 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v4102 = load ptr, ptr %v4101, !invariant.load !0
  %v4103 = getelementptr inbounds i8, ptr %v4102, i64 1622016
  call void @subtract_tanh_minimum_fusion(ptr %v4076, ptr %v4079, ptr %v4082, ptr %v4085, ptr %v4088, ptr %v4091, ptr %v4094, ptr %v4097, ptr %v4100, ptr %v4103)
  ret i32 0
}

define hidden i32 @xe_entry_part5(ptr noalias %arguments) nounwind optnone noinline "optimization-level"="final" {
entry:
  %slot6006 = alloca ptr, i64 64, align 64
  %v5096 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5097 = load ptr, ptr %v5096, !invariant.load !0
  %v5098 = getelementptr inbounds i8, ptr %v5097, i64 851968
  %v5099 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5100 = load ptr, ptr %v5099, !invariant.load !0
  %v5101 = getelementptr inbounds i8, ptr %v5100, i64 3178496
  %v5102 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5103 = load ptr, ptr %v5102, !invariant.load !0
  %v5104 = getelementptr inbounds i8, ptr %v5103, i64 131072
  call void @d73(ptr %v5098, ptr %v5101, ptr %v5104)
  %v5105 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5106 = load ptr, ptr %v5105, !invariant.load !0
  %v5107 = getelementptr inbounds i8, ptr %v5106, i64 131072
  %v5108 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5109 = load ptr, ptr %v5108, !invariant.load !0
  %v5110 = getelementptr inbounds i8, ptr %v5109, i64 1294336
  %v5111 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5112 = load ptr, ptr %v5111, !invariant.load !0
  %v5113 = getelementptr inbounds i8, ptr %v5112, i64 4161536
  %v5114 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5115 = load ptr, ptr %v5114, !invariant.load !0
  %v5116 = getelementptr inbounds i8, ptr %v5115, i64 344064
  %v5117 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5118 = load ptr, ptr %v5117, !invariant.load !0
  %v5119 = getelementptr inbounds i8, ptr %v5118, i64 4980736
  %v5120 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5121 = load ptr, ptr %v5120, !invariant.load !0
  %v5122 = getelementptr inbounds i8, ptr %v5121, i64 1376256
  %v5123 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5124 = load ptr, ptr %v5123, !invariant.load !0
  %v5125 = getelementptr inbounds i8, ptr %v5124, i64 2490368
  %v5126 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5127 = load ptr, ptr %v5126, !invariant.load !0
  %v5128 = getelementptr inbounds i8, ptr %v5127, i64 4505600
  %v5129 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5130 = load ptr, ptr %v5129, !invariant.load !0
  %v5131 = getelementptr inbounds i8, ptr %v5130, i64 2179072
  %v5132 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5133 = load ptr, ptr %v5132, !invariant.load !0
  %v5134 = getelementptr inbounds i8, ptr %v5133, i64 2473984
  call void @multiply_subtract_add_maximum_fusion(ptr %v5107, ptr %v5110, ptr %v5113, ptr %v5116, ptr %v5119, ptr %v5122, ptr %v5125, ptr %v5128, ptr %v5131, ptr %v5134)
  %v5135 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5136 = load ptr, ptr %v5135, !invariant.load !0
  %v5137 = getelementptr inbounds i8, ptr %v5136, i64 5718016
  %v5138 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5139 = load ptr, ptr %v5138, !invariant.load !0
  %v5140 = getelementptr inbounds i8, ptr %v5139, i64 5177344
  %v5141 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5142 = load ptr, ptr %v5141, !invariant.load !0
  %v5143 = getelementptr inbounds i8, ptr %v5142, i64 180224
  call void @d73(ptr %v5137, ptr %v5140, ptr %v5143)
  %v5144 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5145 = load ptr, ptr %v5144, !invariant.load !0
  %v5146 = getelementptr inbounds i8, ptr %v5145, i64 3309568
  %v5147 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5148 = load ptr, ptr %v5147, !invariant.load !0
  %v5149 = getelementptr inbounds i8, ptr %v5148, i64 4096000
  %v5150 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5151 = load ptr, ptr %v5150, !invariant.load !0
  %v5152 = getelementptr inbounds i8, ptr %v5151, i64 1818624
  %v5153 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5154 = load ptr, ptr %v5153, !invariant.load !0
  %v5155 = getelementptr inbounds i8, ptr %v5154, i64 1802240
  %v5156 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5157 = load ptr, ptr %v5156, !invariant.load !0
  %v5158 = getelementptr inbounds i8, ptr %v5157, i64 1540096
  %v5159 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5160 = load ptr, ptr %v5159, !invariant.load !0
  %v5161 = getelementptr inbounds i8, ptr %v5160, i64 5341184
  %v5162 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5163 = load ptr, ptr %v5162, !invariant.load !0
  %v5164 = getelementptr inbounds i8, ptr %v5163, i64 4882432
  %v5165 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5166 = load ptr, ptr %v5165, !invariant.load !0
  %v5167 = getelementptr inbounds i8, ptr %v5166, i64 212992
  %v5168 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5169 = load ptr, ptr %v5168, !invariant.load !0
  %v5170 = getelementptr inbounds i8, ptr %v5169, i64 458752
  %v5171 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5172 = load ptr, ptr %v5171, !invariant.load !0
  %v5173 = getelementptr inbounds i8, ptr %v5172, i64 524288
  %v5174 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5175 = load ptr, ptr %v5174, !invariant.load !0
  %v5176 = getelementptr inbounds i8, ptr %v5175, i64 573440
  %v5177 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5178 = load ptr, ptr %v5177, !invariant.load !0
  %v5179 = getelementptr inbounds i8, ptr %v5178, i64 589824
  %v5180 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5181 = load ptr, ptr %v5180, !invariant.load !0
  %v5182 = getelementptr inbounds i8, ptr %v5181, i64 655360
  call void @tanh_subtract_minimum_multiply_fusion(ptr %v5146, ptr %v5149, ptr %v5152, ptr %v5155, ptr %v5158, ptr %v5161, ptr %v5164, ptr %v5167, ptr %v5170, ptr %v5173, ptr %v5176, ptr %v5179, ptr %v5182)
  %v5183 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5184 = load ptr, ptr %v5183, !invariant.load !0
  %v5185 = getelementptr inbounds i8, ptr %v5184, i64 2686976
  %v5186 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5187 = load ptr, ptr %v5186, !invariant.load !0
  %v5188 = getelementptr inbounds i8, ptr %v5187, i64 1720320
  %v5189 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5190 = load ptr, ptr %v5189, !invariant.load !0
  %v5191 = getelementptr inbounds i8, ptr %v5190, i64 180224
  %v5192 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5193 = load ptr, ptr %v5192, !invariant.load !0
  %v5194 = getelementptr inbounds i8, ptr %v5193, i64 2949120
  %v5195 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5196 = load ptr, ptr %v5195, !invariant.load !0
  %v5197 = getelementptr inbounds i8, ptr %v5196, i64 5423104
  %v5198 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5199 = load ptr, ptr %v5198, !invariant.load !0
  %v5200 = getelementptr inbounds i8, ptr %v5199, i64 4997120
  %v5201 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5202 = load ptr, ptr %v5201, !invariant.load !0
  %v5203 = getelementptr inbounds i8, ptr %v5202, i64 2572288
  %v5204 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5205 = load ptr, ptr %v5204, !invariant.load !0
  %v5206 = getelementptr inbounds i8, ptr %v5205, i64 344064
  %v5207 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5208 = load ptr, ptr %v5207, !invariant.load !0
  %v5209 = getelementptr inbounds i8, ptr %v5208, i64 655360
  %v5210 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5211 = load ptr, ptr %v5210, !invariant.load !0
  %v5212 = getelementptr inbounds i8, ptr %v5211, i64 671744
  %v5213 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5214 = load ptr, ptr %v5213, !invariant.load !0
  %v5215 = getelementptr inbounds i8, ptr %v5214, i64 835584
  %v5216 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5217 = load ptr, ptr %v5216, !invariant.load !0
  %v5218 = getelementptr inbounds i8, ptr %v5217, i64 851968
  %v5219 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5220 = load ptr, ptr %v5219, !invariant.load !0
  %v5221 = getelementptr inbounds i8, ptr %v5220, i64 1015808
  call void @multiply_tanh_add_subtract_fusion(ptr %v5185, ptr %v5188, ptr %v5191, ptr %v5194, ptr %v5197, ptr %v5200, ptr %v5203, ptr %v5206, ptr %v5209, ptr %v5212, ptr %v5215, ptr %v5218, ptr %v5221)
  %v5222 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5223 = load ptr, ptr %v5222, !invariant.load !0
  %v5224 = getelementptr inbounds i8, ptr %v5223, i64 1998848
  %v5225 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5226 = load ptr, ptr %v5225, !invariant.load !0
  %v5227 = getelementptr inbounds i8, ptr %v5226, i64 4325376
  %v5228 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5229 = load ptr, ptr %v5228, !invariant.load !0
  %v5230 = getelementptr inbounds i8, ptr %v5229, i64 2539520
  %v5231 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5232 = load ptr, ptr %v5231, !invariant.load !0
  %v5233 = getelementptr inbounds i8, ptr %v5232, i64 2277376
  %v5234 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5235 = load ptr, ptr %v5234, !invariant.load !0
  %v5236 = getelementptr inbounds i8, ptr %v5235, i64 4734976
  %v5237 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5238 = load ptr, ptr %v5237, !invariant.load !0
  %v5239 = getelementptr inbounds i8, ptr %v5238, i64 5128192
  %v5240 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5241 = load ptr, ptr %v5240, !invariant.load !0
  %v5242 = getelementptr inbounds i8, ptr %v5241, i64 2686976
  %v5243 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5244 = load ptr, ptr %v5243, !invariant.load !0
  %v5245 = getelementptr inbounds i8, ptr %v5244, i64 2162688
  %v5246 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5247 = load ptr, ptr %v5246, !invariant.load !0
  %v5248 = getelementptr inbounds i8, ptr %v5247, i64 3325952
  %v5249 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5250 = load ptr, ptr %v5249, !invariant.load !0
  %v5251 = getelementptr inbounds i8, ptr %v5250, i64 524288
  call void @subtract_minimum_fusion(ptr %v5224, ptr %v5227, ptr %v5230, ptr %v5233, ptr %v5236, ptr %v5239, ptr %v5242, ptr %v5245, ptr %v5248, ptr %v5251)
  %v5252 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5253 = load ptr, ptr %v5252, !invariant.load !0
  %v5254 = getelementptr inbounds i8, ptr %v5253, i64 3489792
  %v5255 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5256 = load ptr, ptr %v5255, !invariant.load !0
  %v5257 = getelementptr inbounds i8, ptr %v5256, i64 3588096
  %v5258 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5259 = load ptr, ptr %v5258, !invariant.load !0
  %v5260 = getelementptr inbounds i8, ptr %v5259, i64 1589248
  %v5261 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5262 = load ptr, ptr %v5261, !invariant.load !0
  %v5263 = getelementptr inbounds i8, ptr %v5262, i64 3342336
  %v5264 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5265 = load ptr, ptr %v5264, !invariant.load !0
  %v5266 = getelementptr inbounds i8, ptr %v5265, i64 1753088
  %v5267 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5268 = load ptr, ptr %v5267, !invariant.load !0
  %v5269 = getelementptr inbounds i8, ptr %v5268, i64 4718592
  %v5270 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5271 = load ptr, ptr %v5270, !invariant.load !0
  %v5272 = getelementptr inbounds i8, ptr %v5271, i64 1966080
  %v5273 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5274 = load ptr, ptr %v5273, !invariant.load !0
  %v5275 = getelementptr inbounds i8, ptr %v5274, i64 4046848
  %v5276 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5277 = load ptr, ptr %v5276, !invariant.load !0
  %v5278 = getelementptr inbounds i8, ptr %v5277, i64 4456448
  %v5279 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5280 = load ptr, ptr %v5279, !invariant.load !0
  %v5281 = getelementptr inbounds i8, ptr %v5280, i64 5718016
  call void @multiply_maximum_minimum_tanh_fusion_1(ptr %v5254, ptr %v5257, ptr %v5260, ptr %v5263, ptr %v5266, ptr %v5269, ptr %v5272, ptr %v5275, ptr %v5278, ptr %v5281)
  %v5282 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5283 = load ptr, ptr %v5282, !invariant.load !0
  %v5284 = getelementptr inbounds i8, ptr %v5283, i64 2080768
  %v5285 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5286 = load ptr, ptr %v5285, !invariant.load !0
  %v5287 = getelementptr inbounds i8, ptr %v5286, i64 5948160
  %v5288 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5289 = load ptr, ptr %v5288, !invariant.load !0
  %v5290 = getelementptr inbounds i8, ptr %v5289, i64 5949696
  call void @add_multiply_reduce_fusion_4(ptr %v5284, ptr %v5287, ptr %v5290)
  %v5291 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5292 = load ptr, ptr %v5291, !invariant.load !0
  %v5293 = getelementptr inbounds i8, ptr %v5292, i64 5949696
  call void @wrapped_tanh_540(ptr %v5293)
  %v5294 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5295 = load ptr, ptr %v5294, !invariant.load !0
  %v5296 = getelementptr inbounds i8, ptr %v5295, i64 2867200
  %v5297 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5298 = load ptr, ptr %v5297, !invariant.load !0
  %v5299 = getelementptr inbounds i8, ptr %v5298, i64 1310720
  call void @wrapped_transpose_6(ptr %v5296, ptr %v5299)
  %v5300 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5301 = load ptr, ptr %v5300, !invariant.load !0
  %v5302 = getelementptr inbounds i8, ptr %v5301, i64 4292608
  %v5303 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5304 = load ptr, ptr %v5303, !invariant.load !0
  %v5305 = getelementptr inbounds i8, ptr %v5304, i64 1032192
  %v5306 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5307 = load ptr, ptr %v5306, !invariant.load !0
  %v5308 = getelementptr inbounds i8, ptr %v5307, i64 49152
  %v5309 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5310 = load ptr, ptr %v5309, !invariant.load !0
  %v5311 = getelementptr inbounds i8, ptr %v5310, i64 1425408
  %v5312 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5313 = load ptr, ptr %v5312, !invariant.load !0
  %v5314 = getelementptr inbounds i8, ptr %v5313, i64 1310720
  %v5315 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5316 = load ptr, ptr %v5315, !invariant.load !0
  %v5317 = getelementptr inbounds i8, ptr %v5316, i64 5308416
  %v5318 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5319 = load ptr, ptr %v5318, !invariant.load !0
  %v5320 = getelementptr inbounds i8, ptr %v5319, i64 5949696
  %v5321 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5322 = load ptr, ptr %v5321, !invariant.load !0
  %v5323 = getelementptr inbounds i8, ptr %v5322, i64 5586944
  %v5324 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5325 = load ptr, ptr %v5324, !invariant.load !0
  %v5326 = getelementptr inbounds i8, ptr %v5325, i64 2555904
  %v5327 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5328 = load ptr, ptr %v5327, !invariant.load !0
  %v5329 = getelementptr inbounds i8, ptr %v5328, i64 3588096
  %v5330 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5331 = load ptr, ptr %v5330, !invariant.load !0
  %v5332 = getelementptr inbounds i8, ptr %v5331, i64 2015232
  %v5333 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5334 = load ptr, ptr %v5333, !invariant.load !0
  %v5335 = getelementptr inbounds i8, ptr %v5334, i64 1392640
  %v5336 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5337 = load ptr, ptr %v5336, !invariant.load !0
  %v5338 = getelementptr inbounds i8, ptr %v5337, i64 1409024
  %v5339 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5340 = load ptr, ptr %v5339, !invariant.load !0
  %v5341 = getelementptr inbounds i8, ptr %v5340, i64 1572864
  call void @multiply_tanh_add_fusion_12(ptr %v5302, ptr %v5305, ptr %v5308, ptr %v5311, ptr %v5314, ptr %v5317, ptr %v5320, ptr %v5323, ptr %v5326, ptr %v5329, ptr %v5332, ptr %v5335, ptr %v5338, ptr %v5341)
  %v5342 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5343 = load ptr, ptr %v5342, !invariant.load !0
  %v5344 = getelementptr inbounds i8, ptr %v5343, i64 4292608
  %v5345 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5346 = load ptr, ptr %v5345, !invariant.load !0
  %v5347 = getelementptr inbounds i8, ptr %v5346, i64 4440064
  %v5348 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5349 = load ptr, ptr %v5348, !invariant.load !0
  %v5350 = getelementptr inbounds i8, ptr %v5349, i64 2916352
  call void @multiply_reduce_fusion_11(ptr %v5344, ptr %v5347, ptr %v5350)
  %v5351 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5352 = load ptr, ptr %v5351, !invariant.load !0
  %v5353 = getelementptr inbounds i8, ptr %v5352, i64 3964928
  %v5354 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5355 = load ptr, ptr %v5354, !invariant.load !0
  %v5356 = getelementptr inbounds i8, ptr %v5355, i64 4063232
  %v5357 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5358 = load ptr, ptr %v5357, !invariant.load !0
  %v5359 = getelementptr inbounds i8, ptr %v5358, i64 1605632
  call void @d73(ptr %v5353, ptr %v5356, ptr %v5359)
  %v5360 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5361 = load ptr, ptr %v5360, !invariant.load !0
  %v5362 = getelementptr inbounds i8, ptr %v5361, i64 3244032
  %v5363 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5364 = load ptr, ptr %v5363, !invariant.load !0
  %v5365 = getelementptr inbounds i8, ptr %v5364, i64 5949952
  call void @reduce_fusion_99(ptr %v5362, ptr %v5365)
  %v5366 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5367 = load ptr, ptr %v5366, !invariant.load !0
  %v5368 = getelementptr inbounds i8, ptr %v5367, i64 5949952
  call void @wrapped_tanh_540(ptr %v5368)
  %v5369 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5370 = load ptr, ptr %v5369, !invariant.load !0
  %v5371 = getelementptr inbounds i8, ptr %v5370, i64 3850240
  %v5372 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5373 = load ptr, ptr %v5372, !invariant.load !0
  %v5374 = getelementptr inbounds i8, ptr %v5373, i64 737280
  %v5375 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5376 = load ptr, ptr %v5375, !invariant.load !0
  %v5377 = getelementptr inbounds i8, ptr %v5376, i64 5095424
  %v5378 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5379 = load ptr, ptr %v5378, !invariant.load !0
  %v5380 = getelementptr inbounds i8, ptr %v5379, i64 2097152
  %v5381 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5382 = load ptr, ptr %v5381, !invariant.load !0
  %v5383 = getelementptr inbounds i8, ptr %v5382, i64 4947968
  call void @subtract_add_fusion(ptr %v5371, ptr %v5374, ptr %v5377, ptr %v5380, ptr %v5383)
  %v5384 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5385 = load ptr, ptr %v5384, !invariant.load !0
  %v5386 = getelementptr inbounds i8, ptr %v5385, i64 1605632
  %v5387 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5388 = load ptr, ptr %v5387, !invariant.load !0
  %v5389 = getelementptr inbounds i8, ptr %v5388, i64 3342336
  call void @tanh_multiply_fusion_15(ptr %v5386, ptr %v5389)
  %v5390 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5391 = load ptr, ptr %v5390, !invariant.load !0
  %v5392 = getelementptr inbounds i8, ptr %v5391, i64 2916352
  call void @wrapped_tanh_540(ptr %v5392)
  %v5393 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5394 = load ptr, ptr %v5393, !invariant.load !0
  %v5395 = getelementptr inbounds i8, ptr %v5394, i64 5685248
  %v5396 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5397 = load ptr, ptr %v5396, !invariant.load !0
  %v5398 = getelementptr inbounds i8, ptr %v5397, i64 1982464
  %v5399 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5400 = load ptr, ptr %v5399, !invariant.load !0
  %v5401 = getelementptr inbounds i8, ptr %v5400, i64 3522560
  %v5402 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5403 = load ptr, ptr %v5402, !invariant.load !0
  %v5404 = getelementptr inbounds i8, ptr %v5403, i64 1130496
  %v5405 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5406 = load ptr, ptr %v5405, !invariant.load !0
  %v5407 = getelementptr inbounds i8, ptr %v5406, i64 6652160
  %v5408 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5409 = load ptr, ptr %v5408, !invariant.load !0
  %v5410 = getelementptr inbounds i8, ptr %v5409, i64 5259264
  %v5411 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5412 = load ptr, ptr %v5411, !invariant.load !0
  %v5413 = getelementptr inbounds i8, ptr %v5412, i64 2572288
  %v5414 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5415 = load ptr, ptr %v5414, !invariant.load !0
  %v5416 = getelementptr inbounds i8, ptr %v5415, i64 5668864
  %v5417 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5418 = load ptr, ptr %v5417, !invariant.load !0
  %v5419 = getelementptr inbounds i8, ptr %v5418, i64 131072
  %v5420 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5421 = load ptr, ptr %v5420, !invariant.load !0
  %v5422 = getelementptr inbounds i8, ptr %v5421, i64 2080768
  %v5423 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5424 = load ptr, ptr %v5423, !invariant.load !0
  %v5425 = getelementptr inbounds i8, ptr %v5424, i64 2113536
  %v5426 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5427 = load ptr, ptr %v5426, !invariant.load !0
  %v5428 = getelementptr inbounds i8, ptr %v5427, i64 2162688
  %v5429 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5430 = load ptr, ptr %v5429, !invariant.load !0
  %v5431 = getelementptr inbounds i8, ptr %v5430, i64 2179072
  %v5432 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5433 = load ptr, ptr %v5432, !invariant.load !0
  %v5434 = getelementptr inbounds i8, ptr %v5433, i64 2211840
  %v5435 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5436 = load ptr, ptr %v5435, !invariant.load !0
  %v5437 = getelementptr inbounds i8, ptr %v5436, i64 2277376
  %v5438 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5439 = load ptr, ptr %v5438, !invariant.load !0
  %v5440 = getelementptr inbounds i8, ptr %v5439, i64 2326528
  call void @subtract_multiply_tanh_minimum_fusion_1(ptr %v5395, ptr %v5398, ptr %v5401, ptr %v5404, ptr %v5407, ptr %v5410, ptr %v5413, ptr %v5416, ptr %v5419, ptr %v5422, ptr %v5425, ptr %v5428, ptr %v5431, ptr %v5434, ptr %v5437, ptr %v5440)
  %v5441 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5442 = load ptr, ptr %v5441, !invariant.load !0
  %v5443 = getelementptr inbounds i8, ptr %v5442, i64 1048576
  %v5444 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5445 = load ptr, ptr %v5444, !invariant.load !0
  %v5446 = getelementptr inbounds i8, ptr %v5445, i64 3489792
  %v5447 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5448 = load ptr, ptr %v5447, !invariant.load !0
  %v5449 = getelementptr inbounds i8, ptr %v5448, i64 2834432
  %v5450 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5451 = load ptr, ptr %v5450, !invariant.load !0
  %v5452 = getelementptr inbounds i8, ptr %v5451, i64 3407872
  %v5453 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5454 = load ptr, ptr %v5453, !invariant.load !0
  %v5455 = getelementptr inbounds i8, ptr %v5454, i64 3653632
  %v5456 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5457 = load ptr, ptr %v5456, !invariant.load !0
  %v5458 = getelementptr inbounds i8, ptr %v5457, i64 5357568
  %v5459 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5460 = load ptr, ptr %v5459, !invariant.load !0
  %v5461 = getelementptr inbounds i8, ptr %v5460, i64 5652480
  %v5462 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5463 = load ptr, ptr %v5462, !invariant.load !0
  %v5464 = getelementptr inbounds i8, ptr %v5463, i64 5144576
  %v5465 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5466 = load ptr, ptr %v5465, !invariant.load !0
  %v5467 = getelementptr inbounds i8, ptr %v5466, i64 2539520
  %v5468 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5469 = load ptr, ptr %v5468, !invariant.load !0
  %v5470 = getelementptr inbounds i8, ptr %v5469, i64 1277952
  %v5471 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5472 = load ptr, ptr %v5471, !invariant.load !0
  %v5473 = getelementptr inbounds i8, ptr %v5472, i64 425984
  %v5474 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5475 = load ptr, ptr %v5474, !invariant.load !0
  %v5476 = getelementptr inbounds i8, ptr %v5475, i64 2326528
  %v5477 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5478 = load ptr, ptr %v5477, !invariant.load !0
  %v5479 = getelementptr inbounds i8, ptr %v5478, i64 2441216
  %v5480 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5481 = load ptr, ptr %v5480, !invariant.load !0
  %v5482 = getelementptr inbounds i8, ptr %v5481, i64 2457600
  %v5483 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5484 = load ptr, ptr %v5483, !invariant.load !0
  %v5485 = getelementptr inbounds i8, ptr %v5484, i64 2506752
  %v5486 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5487 = load ptr, ptr %v5486, !invariant.load !0
  %v5488 = getelementptr inbounds i8, ptr %v5487, i64 2686976
  %v5489 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5490 = load ptr, ptr %v5489, !invariant.load !0
  %v5491 = getelementptr inbounds i8, ptr %v5490, i64 2736128
  %v5492 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5493 = load ptr, ptr %v5492, !invariant.load !0
  %v5494 = getelementptr inbounds i8, ptr %v5493, i64 2850816
  call void @tanh_minimum_multiply_add_fusion(ptr %v5443, ptr %v5446, ptr %v5449, ptr %v5452, ptr %v5455, ptr %v5458, ptr %v5461, ptr %v5464, ptr %v5467, ptr %v5470, ptr %v5473, ptr %v5476, ptr %v5479, ptr %v5482, ptr %v5485, ptr %v5488, ptr %v5491, ptr %v5494)
  %v5495 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5496 = load ptr, ptr %v5495, !invariant.load !0
  %v5497 = getelementptr inbounds i8, ptr %v5496, i64 3489792
  %v5498 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5499 = load ptr, ptr %v5498, !invariant.load !0
  %v5500 = getelementptr inbounds i8, ptr %v5499, i64 6652416
  call void @reduce_fusion_110(ptr %v5497, ptr %v5500)
  %v5501 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5502 = load ptr, ptr %v5501, !invariant.load !0
  %v5503 = getelementptr inbounds i8, ptr %v5502, i64 6652416
  call void @wrapped_tanh_540(ptr %v5503)
  %v5504 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5505 = load ptr, ptr %v5504, !invariant.load !0
  %v5506 = getelementptr inbounds i8, ptr %v5505, i64 5947648
  %v5507 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5508 = load ptr, ptr %v5507, !invariant.load !0
  %v5509 = getelementptr inbounds i8, ptr %v5508, i64 5718016
  call void @wrapped_tanh_533(ptr %v5506, ptr %v5509)
  %v5510 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5511 = load ptr, ptr %v5510, !invariant.load !0
  %v5512 = getelementptr inbounds i8, ptr %v5511, i64 2228224
  %v5513 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5514 = load ptr, ptr %v5513, !invariant.load !0
  %v5515 = getelementptr inbounds i8, ptr %v5514, i64 5949184
  %v5516 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5517 = load ptr, ptr %v5516, !invariant.load !0
  %v5518 = getelementptr inbounds i8, ptr %v5517, i64 2916352
  %v5519 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5520 = load ptr, ptr %v5519, !invariant.load !0
  %v5521 = getelementptr inbounds i8, ptr %v5520, i64 2883584
  call void @multiply_add_fusion_42(ptr %v5512, ptr %v5515, ptr %v5518, ptr %v5521)
  %v5522 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5523 = load ptr, ptr %v5522, !invariant.load !0
  %v5524 = getelementptr inbounds i8, ptr %v5523, i64 786432
  %v5525 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5526 = load ptr, ptr %v5525, !invariant.load !0
  %v5527 = getelementptr inbounds i8, ptr %v5526, i64 4767744
  %v5528 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5529 = load ptr, ptr %v5528, !invariant.load !0
  %v5530 = getelementptr inbounds i8, ptr %v5529, i64 5799936
  %v5531 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5532 = load ptr, ptr %v5531, !invariant.load !0
  %v5533 = getelementptr inbounds i8, ptr %v5532, i64 6652416
  %v5534 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5535 = load ptr, ptr %v5534, !invariant.load !0
  %v5536 = getelementptr inbounds i8, ptr %v5535, i64 2850816
  %v5537 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5538 = load ptr, ptr %v5537, !invariant.load !0
  %v5539 = getelementptr inbounds i8, ptr %v5538, i64 2064384
  %v5540 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5541 = load ptr, ptr %v5540, !invariant.load !0
  %v5542 = getelementptr inbounds i8, ptr %v5541, i64 1622016
  %v5543 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5544 = load ptr, ptr %v5543, !invariant.load !0
  %v5545 = getelementptr inbounds i8, ptr %v5544, i64 1671168
  %v5546 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5547 = load ptr, ptr %v5546, !invariant.load !0
  %v5548 = getelementptr inbounds i8, ptr %v5547, i64 1818624
  %v5549 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5550 = load ptr, ptr %v5549, !invariant.load !0
  %v5551 = getelementptr inbounds i8, ptr %v5550, i64 2916352
  %v5552 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5553 = load ptr, ptr %v5552, !invariant.load !0
  %v5554 = getelementptr inbounds i8, ptr %v5553, i64 2998272
  %v5555 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5556 = load ptr, ptr %v5555, !invariant.load !0
  %v5557 = getelementptr inbounds i8, ptr %v5556, i64 3047424
  %v5558 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5559 = load ptr, ptr %v5558, !invariant.load !0
  %v5560 = getelementptr inbounds i8, ptr %v5559, i64 3325952
  %v5561 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5562 = load ptr, ptr %v5561, !invariant.load !0
  %v5563 = getelementptr inbounds i8, ptr %v5562, i64 3358720
  call void @multiply_tanh_minimum_add_fusion_2(ptr %v5524, ptr %v5527, ptr %v5530, ptr %v5533, ptr %v5536, ptr %v5539, ptr %v5542, ptr %v5545, ptr %v5548, ptr %v5551, ptr %v5554, ptr %v5557, ptr %v5560, ptr %v5563)
  %v5564 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5565 = load ptr, ptr %v5564, !invariant.load !0
  %v5566 = getelementptr inbounds i8, ptr %v5565, i64 2916352
  %v5567 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5568 = load ptr, ptr %v5567, !invariant.load !0
  %v5569 = getelementptr inbounds i8, ptr %v5568, i64 3342336
  %v5570 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5571 = load ptr, ptr %v5570, !invariant.load !0
  %v5572 = getelementptr inbounds i8, ptr %v5571, i64 3391488
  call void @d73(ptr %v5566, ptr %v5569, ptr %v5572)
  %v5573 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5574 = load ptr, ptr %v5573, !invariant.load !0
  %v5575 = getelementptr inbounds i8, ptr %v5574, i64 4423680
  %v5576 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5577 = load ptr, ptr %v5576, !invariant.load !0
  %v5578 = getelementptr inbounds i8, ptr %v5577, i64 540672
  %v5579 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5580 = load ptr, ptr %v5579, !invariant.load !0
  %v5581 = getelementptr inbounds i8, ptr %v5580, i64 3244032
  %v5582 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5583 = load ptr, ptr %v5582, !invariant.load !0
  %v5584 = getelementptr inbounds i8, ptr %v5583, i64 3653632
  %v5585 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5586 = load ptr, ptr %v5585, !invariant.load !0
  %v5587 = getelementptr inbounds i8, ptr %v5586, i64 802816
  %v5588 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5589 = load ptr, ptr %v5588, !invariant.load !0
  %v5590 = getelementptr inbounds i8, ptr %v5589, i64 16384
  %v5591 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5592 = load ptr, ptr %v5591, !invariant.load !0
  %v5593 = getelementptr inbounds i8, ptr %v5592, i64 5948672
  %v5594 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5595 = load ptr, ptr %v5594, !invariant.load !0
  %v5596 = getelementptr inbounds i8, ptr %v5595, i64 4571136
  %v5597 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5598 = load ptr, ptr %v5597, !invariant.load !0
  %v5599 = getelementptr inbounds i8, ptr %v5598, i64 32768
  %v5600 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5601 = load ptr, ptr %v5600, !invariant.load !0
  %v5602 = getelementptr inbounds i8, ptr %v5601, i64 950272
  %v5603 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5604 = load ptr, ptr %v5603, !invariant.load !0
  %v5605 = getelementptr inbounds i8, ptr %v5604, i64 5947904
  %v5606 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5607 = load ptr, ptr %v5606, !invariant.load !0
  %v5608 = getelementptr inbounds i8, ptr %v5607, i64 5308416
  %v5609 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5610 = load ptr, ptr %v5609, !invariant.load !0
  %v5611 = getelementptr inbounds i8, ptr %v5610, i64 917504
  %v5612 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5613 = load ptr, ptr %v5612, !invariant.load !0
  %v5614 = getelementptr inbounds i8, ptr %v5613, i64 3932160
  %v5615 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5616 = load ptr, ptr %v5615, !invariant.load !0
  %v5617 = getelementptr inbounds i8, ptr %v5616, i64 3964928
  call void @multiply_maximum_subtract_add_fusion(ptr %v5575, ptr %v5578, ptr %v5581, ptr %v5584, ptr %v5587, ptr %v5590, ptr %v5593, ptr %v5596, ptr %v5599, ptr %v5602, ptr %v5605, ptr %v5608, ptr %v5611, ptr %v5614, ptr %v5617)
  %v5618 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5619 = load ptr, ptr %v5618, !invariant.load !0
  %v5620 = getelementptr inbounds i8, ptr %v5619, i64 294912
  %v5621 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5622 = load ptr, ptr %v5621, !invariant.load !0
  %v5623 = getelementptr inbounds i8, ptr %v5622, i64 1458176
  %v5624 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5625 = load ptr, ptr %v5624, !invariant.load !0
  %v5626 = getelementptr inbounds i8, ptr %v5625, i64 2588672
  %v5627 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5628 = load ptr, ptr %v5627, !invariant.load !0
  %v5629 = getelementptr inbounds i8, ptr %v5628, i64 753664
  %v5630 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5631 = load ptr, ptr %v5630, !invariant.load !0
  %v5632 = getelementptr inbounds i8, ptr %v5631, i64 5537792
  %v5633 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5634 = load ptr, ptr %v5633, !invariant.load !0
  %v5635 = getelementptr inbounds i8, ptr %v5634, i64 2801664
  %v5636 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5637 = load ptr, ptr %v5636, !invariant.load !0
  %v5638 = getelementptr inbounds i8, ptr %v5637, i64 5505024
  %v5639 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5640 = load ptr, ptr %v5639, !invariant.load !0
  %v5641 = getelementptr inbounds i8, ptr %v5640, i64 3260416
  %v5642 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5643 = load ptr, ptr %v5642, !invariant.load !0
  %v5644 = getelementptr inbounds i8, ptr %v5643, i64 3391488
  %v5645 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5646 = load ptr, ptr %v5645, !invariant.load !0
  %v5647 = getelementptr inbounds i8, ptr %v5646, i64 1720320
  %v5648 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5649 = load ptr, ptr %v5648, !invariant.load !0
  %v5650 = getelementptr inbounds i8, ptr %v5649, i64 4063232
  %v5651 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5652 = load ptr, ptr %v5651, !invariant.load !0
  %v5653 = getelementptr inbounds i8, ptr %v5652, i64 4227072
  %v5654 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5655 = load ptr, ptr %v5654, !invariant.load !0
  %v5656 = getelementptr inbounds i8, ptr %v5655, i64 4259840
  call void @multiply_add_tanh_maximum_fusion_1(ptr %v5620, ptr %v5623, ptr %v5626, ptr %v5629, ptr %v5632, ptr %v5635, ptr %v5638, ptr %v5641, ptr %v5644, ptr %v5647, ptr %v5650, ptr %v5653, ptr %v5656)
  %v5657 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5658 = load ptr, ptr %v5657, !invariant.load !0
  %v5659 = getelementptr inbounds i8, ptr %v5658, i64 1064960
  %v5660 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5661 = load ptr, ptr %v5660, !invariant.load !0
  %v5662 = getelementptr inbounds i8, ptr %v5661, i64 5783552
  %v5663 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5664 = load ptr, ptr %v5663, !invariant.load !0
  %v5665 = getelementptr inbounds i8, ptr %v5664, i64 3276800
  %v5666 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5667 = load ptr, ptr %v5666, !invariant.load !0
  %v5668 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5669 = load ptr, ptr %v5668, !invariant.load !0
  %v5670 = getelementptr inbounds i8, ptr %v5669, i64 3457024
  %v5671 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5672 = load ptr, ptr %v5671, !invariant.load !0
  %v5673 = getelementptr inbounds i8, ptr %v5672, i64 114688
  %v5674 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5675 = load ptr, ptr %v5674, !invariant.load !0
  %v5676 = getelementptr inbounds i8, ptr %v5675, i64 2670592
  %v5677 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5678 = load ptr, ptr %v5677, !invariant.load !0
  %v5679 = getelementptr inbounds i8, ptr %v5678, i64 376832
  %v5680 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5681 = load ptr, ptr %v5680, !invariant.load !0
  %v5682 = getelementptr inbounds i8, ptr %v5681, i64 983040
  %v5683 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5684 = load ptr, ptr %v5683, !invariant.load !0
  %v5685 = getelementptr inbounds i8, ptr %v5684, i64 1163264
  %v5686 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5687 = load ptr, ptr %v5686, !invariant.load !0
  %v5688 = getelementptr inbounds i8, ptr %v5687, i64 2064384
  %v5689 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5690 = load ptr, ptr %v5689, !invariant.load !0
  %v5691 = getelementptr inbounds i8, ptr %v5690, i64 4358144
  %v5692 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5693 = load ptr, ptr %v5692, !invariant.load !0
  %v5694 = getelementptr inbounds i8, ptr %v5693, i64 4440064
  %v5695 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5696 = load ptr, ptr %v5695, !invariant.load !0
  %v5697 = getelementptr inbounds i8, ptr %v5696, i64 4456448
  %v5698 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5699 = load ptr, ptr %v5698, !invariant.load !0
  %v5700 = getelementptr inbounds i8, ptr %v5699, i64 4734976
  call void @multiply_maximum_tanh_minimum_fusion_1(ptr %v5659, ptr %v5662, ptr %v5665, ptr %v5667, ptr %v5670, ptr %v5673, ptr %v5676, ptr %v5679, ptr %v5682, ptr %v5685, ptr %v5688, ptr %v5691, ptr %v5694, ptr %v5697, ptr %v5700)
  %v5701 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5702 = load ptr, ptr %v5701, !invariant.load !0
  %v5703 = getelementptr inbounds i8, ptr %v5702, i64 5570560
  %v5704 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5705 = load ptr, ptr %v5704, !invariant.load !0
  %v5706 = getelementptr inbounds i8, ptr %v5705, i64 5718016
  %v5707 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5708 = load ptr, ptr %v5707, !invariant.load !0
  %v5709 = getelementptr inbounds i8, ptr %v5708, i64 2080768
  %v5710 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5711 = load ptr, ptr %v5710, !invariant.load !0
  %v5712 = getelementptr inbounds i8, ptr %v5711, i64 6652416
  %v5713 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5714 = load ptr, ptr %v5713, !invariant.load !0
  %v5715 = getelementptr inbounds i8, ptr %v5714, i64 950272
  %v5716 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5717 = load ptr, ptr %v5716, !invariant.load !0
  %v5718 = getelementptr inbounds i8, ptr %v5717, i64 606208
  %v5719 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5720 = load ptr, ptr %v5719, !invariant.load !0
  %v5721 = getelementptr inbounds i8, ptr %v5720, i64 5144576
  %v5722 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5723 = load ptr, ptr %v5722, !invariant.load !0
  %v5724 = getelementptr inbounds i8, ptr %v5723, i64 5275648
  %v5725 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5726 = load ptr, ptr %v5725, !invariant.load !0
  %v5727 = getelementptr inbounds i8, ptr %v5726, i64 4358144
  %v5728 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5729 = load ptr, ptr %v5728, !invariant.load !0
  %v5730 = getelementptr inbounds i8, ptr %v5729, i64 851968
  %v5731 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5732 = load ptr, ptr %v5731, !invariant.load !0
  %v5733 = getelementptr inbounds i8, ptr %v5732, i64 4751360
  %v5734 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5735 = load ptr, ptr %v5734, !invariant.load !0
  %v5736 = getelementptr inbounds i8, ptr %v5735, i64 4800512
  %v5737 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5738 = load ptr, ptr %v5737, !invariant.load !0
  %v5739 = getelementptr inbounds i8, ptr %v5738, i64 5177344
  call void @multiply_maximum_subtract_minimum_fusion(ptr %v5703, ptr %v5706, ptr %v5709, ptr %v5712, ptr %v5715, ptr %v5718, ptr %v5721, ptr %v5724, ptr %v5727, ptr %v5730, ptr %v5733, ptr %v5736, ptr %v5739)
  %v5740 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5741 = load ptr, ptr %v5740, !invariant.load !0
  %v5742 = getelementptr inbounds i8, ptr %v5741, i64 3375104
  %v5743 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5744 = load ptr, ptr %v5743, !invariant.load !0
  %v5745 = getelementptr inbounds i8, ptr %v5744, i64 278528
  %v5746 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5747 = load ptr, ptr %v5746, !invariant.load !0
  %v5748 = getelementptr inbounds i8, ptr %v5747, i64 1458176
  %v5749 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5750 = load ptr, ptr %v5749, !invariant.load !0
  %v5751 = getelementptr inbounds i8, ptr %v5750, i64 4407296
  %v5752 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5753 = load ptr, ptr %v5752, !invariant.load !0
  %v5754 = getelementptr inbounds i8, ptr %v5753, i64 1294336
  %v5755 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5756 = load ptr, ptr %v5755, !invariant.load !0
  %v5757 = getelementptr inbounds i8, ptr %v5756, i64 2179072
  %v5758 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5759 = load ptr, ptr %v5758, !invariant.load !0
  %v5760 = getelementptr inbounds i8, ptr %v5759, i64 4784128
  %v5761 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5762 = load ptr, ptr %v5761, !invariant.load !0
  %v5763 = getelementptr inbounds i8, ptr %v5762, i64 5718016
  %v5764 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5765 = load ptr, ptr %v5764, !invariant.load !0
  %v5766 = getelementptr inbounds i8, ptr %v5765, i64 5816320
  %v5767 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5768 = load ptr, ptr %v5767, !invariant.load !0
  %v5769 = getelementptr inbounds i8, ptr %v5768, i64 5832704
  %v5770 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5771 = load ptr, ptr %v5770, !invariant.load !0
  %v5772 = getelementptr inbounds i8, ptr %v5771, i64 5849088
  %v5773 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5774 = load ptr, ptr %v5773, !invariant.load !0
  %v5775 = getelementptr inbounds i8, ptr %v5774, i64 5865472
  call void @tanh_add_multiply_minimum_fusion_1(ptr %v5742, ptr %v5745, ptr %v5748, ptr %v5751, ptr %v5754, ptr %v5757, ptr %v5760, ptr %v5763, ptr %v5766, ptr %v5769, ptr %v5772, ptr %v5775)
  %v5776 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5777 = load ptr, ptr %v5776, !invariant.load !0
  %v5778 = getelementptr inbounds i8, ptr %v5777, i64 2015232
  %v5779 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5780 = load ptr, ptr %v5779, !invariant.load !0
  %v5781 = getelementptr inbounds i8, ptr %v5780, i64 2785280
  %v5782 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5783 = load ptr, ptr %v5782, !invariant.load !0
  %v5784 = getelementptr inbounds i8, ptr %v5783, i64 3014656
  %v5785 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5786 = load ptr, ptr %v5785, !invariant.load !0
  %v5787 = getelementptr inbounds i8, ptr %v5786, i64 2621440
  %v5788 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5789 = load ptr, ptr %v5788, !invariant.load !0
  %v5790 = getelementptr inbounds i8, ptr %v5789, i64 4440064
  %v5791 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5792 = load ptr, ptr %v5791, !invariant.load !0
  %v5793 = getelementptr inbounds i8, ptr %v5792, i64 3244032
  %v5794 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5795 = load ptr, ptr %v5794, !invariant.load !0
  %v5796 = getelementptr inbounds i8, ptr %v5795, i64 5242880
  %v5797 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5798 = load ptr, ptr %v5797, !invariant.load !0
  %v5799 = getelementptr inbounds i8, ptr %v5798, i64 4898816
  %v5800 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5801 = load ptr, ptr %v5800, !invariant.load !0
  %v5802 = getelementptr inbounds i8, ptr %v5801, i64 3375104
  %v5803 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5804 = load ptr, ptr %v5803, !invariant.load !0
  %v5805 = getelementptr inbounds i8, ptr %v5804, i64 2080768
  %v5806 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5807 = load ptr, ptr %v5806, !invariant.load !0
  %v5808 = getelementptr inbounds i8, ptr %v5807, i64 5881856
  %v5809 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5810 = load ptr, ptr %v5809, !invariant.load !0
  %v5811 = getelementptr inbounds i8, ptr %v5810, i64 5898240
  %v5812 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5813 = load ptr, ptr %v5812, !invariant.load !0
  %v5814 = getelementptr inbounds i8, ptr %v5813, i64 5914624
  %v5815 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5816 = load ptr, ptr %v5815, !invariant.load !0
  %v5817 = getelementptr inbounds i8, ptr %v5816, i64 5931008
  call void @tanh_maximum_multiply_minimum_fusion(ptr %v5778, ptr %v5781, ptr %v5784, ptr %v5787, ptr %v5790, ptr %v5793, ptr %v5796, ptr %v5799, ptr %v5802, ptr %v5805, ptr %v5808, ptr %v5811, ptr %v5814, ptr %v5817)
  %v5818 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5819 = load ptr, ptr %v5818, !invariant.load !0
  %v5820 = getelementptr inbounds i8, ptr %v5819, i64 4931584
  %v5821 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5822 = load ptr, ptr %v5821, !invariant.load !0
  %v5823 = getelementptr inbounds i8, ptr %v5822, i64 4063232
  %v5824 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5825 = load ptr, ptr %v5824, !invariant.load !0
  %v5826 = getelementptr inbounds i8, ptr %v5825, i64 4161536
  %v5827 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5828 = load ptr, ptr %v5827, !invariant.load !0
  %v5829 = getelementptr inbounds i8, ptr %v5828, i64 1622016
  %v5830 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5831 = load ptr, ptr %v5830, !invariant.load !0
  %v5832 = getelementptr inbounds i8, ptr %v5831, i64 2719744
  %v5833 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5834 = load ptr, ptr %v5833, !invariant.load !0
  %v5835 = getelementptr inbounds i8, ptr %v5834, i64 4833280
  %v5836 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5837 = load ptr, ptr %v5836, !invariant.load !0
  %v5838 = getelementptr inbounds i8, ptr %v5837, i64 4292608
  %v5839 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5840 = load ptr, ptr %v5839, !invariant.load !0
  %v5841 = getelementptr inbounds i8, ptr %v5840, i64 3473408
  %v5842 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5843 = load ptr, ptr %v5842, !invariant.load !0
  %v5844 = getelementptr inbounds i8, ptr %v5843, i64 4308992
  %v5845 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5846 = load ptr, ptr %v5845, !invariant.load !0
  %v5847 = getelementptr inbounds i8, ptr %v5846, i64 3899392
  %v5848 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5849 = load ptr, ptr %v5848, !invariant.load !0
  %v5850 = getelementptr inbounds i8, ptr %v5849, i64 1884160
  %v5851 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5852 = load ptr, ptr %v5851, !invariant.load !0
  %v5853 = getelementptr inbounds i8, ptr %v5852, i64 3506176
  %v5854 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5855 = load ptr, ptr %v5854, !invariant.load !0
  %v5856 = getelementptr inbounds i8, ptr %v5855, i64 786432
  %v5857 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5858 = load ptr, ptr %v5857, !invariant.load !0
  %v5859 = getelementptr inbounds i8, ptr %v5858, i64 1343488
  %v5860 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5861 = load ptr, ptr %v5860, !invariant.load !0
  %v5862 = getelementptr inbounds i8, ptr %v5861, i64 2801664
  %v5863 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5864 = load ptr, ptr %v5863, !invariant.load !0
  %v5865 = getelementptr inbounds i8, ptr %v5864, i64 4718592
  %v5866 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5867 = load ptr, ptr %v5866, !invariant.load !0
  %v5868 = getelementptr inbounds i8, ptr %v5867, i64 1179648
  %v5869 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5870 = load ptr, ptr %v5869, !invariant.load !0
  %v5871 = getelementptr inbounds i8, ptr %v5870, i64 5949952
  %v5872 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5873 = load ptr, ptr %v5872, !invariant.load !0
  %v5874 = getelementptr inbounds i8, ptr %v5873, i64 3915776
  %v5875 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5876 = load ptr, ptr %v5875, !invariant.load !0
  %v5877 = getelementptr inbounds i8, ptr %v5876, i64 2260992
  %v5878 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5879 = load ptr, ptr %v5878, !invariant.load !0
  %v5880 = getelementptr inbounds i8, ptr %v5879, i64 2392064
  %v5881 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5882 = load ptr, ptr %v5881, !invariant.load !0
  %v5883 = getelementptr inbounds i8, ptr %v5882, i64 393216
  %v5884 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5885 = load ptr, ptr %v5884, !invariant.load !0
  %v5886 = getelementptr inbounds i8, ptr %v5885, i64 1146880
  %v5887 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5888 = load ptr, ptr %v5887, !invariant.load !0
  %v5889 = getelementptr inbounds i8, ptr %v5888, i64 1998848
  %v5890 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5891 = load ptr, ptr %v5890, !invariant.load !0
  %v5892 = getelementptr inbounds i8, ptr %v5891, i64 5701632
  %v5893 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5894 = load ptr, ptr %v5893, !invariant.load !0
  %v5895 = getelementptr inbounds i8, ptr %v5894, i64 770048
  %v5896 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5897 = load ptr, ptr %v5896, !invariant.load !0
  %v5898 = getelementptr inbounds i8, ptr %v5897, i64 3293184
  %v5899 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5900 = load ptr, ptr %v5899, !invariant.load !0
  %v5901 = getelementptr inbounds i8, ptr %v5900, i64 1228800
  %v5902 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5903 = load ptr, ptr %v5902, !invariant.load !0
  %v5904 = getelementptr inbounds i8, ptr %v5903, i64 4816896
  %v5905 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5906 = load ptr, ptr %v5905, !invariant.load !0
  %v5907 = getelementptr inbounds i8, ptr %v5906, i64 4653056
  %v5908 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5909 = load ptr, ptr %v5908, !invariant.load !0
  %v5910 = getelementptr inbounds i8, ptr %v5909, i64 5324800
  %v5911 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5912 = load ptr, ptr %v5911, !invariant.load !0
  %v5913 = getelementptr inbounds i8, ptr %v5912, i64 3080192
  %v5914 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5915 = load ptr, ptr %v5914, !invariant.load !0
  %v5916 = getelementptr inbounds i8, ptr %v5915, i64 2342912
  %v5917 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5918 = load ptr, ptr %v5917, !invariant.load !0
  %v5919 = getelementptr inbounds i8, ptr %v5918, i64 4128768
  %v5920 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5921 = load ptr, ptr %v5920, !invariant.load !0
  %v5922 = getelementptr inbounds i8, ptr %v5921, i64 1474560
  %v5923 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5924 = load ptr, ptr %v5923, !invariant.load !0
  %v5925 = getelementptr inbounds i8, ptr %v5924, i64 3571712
  %v5926 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5927 = load ptr, ptr %v5926, !invariant.load !0
  %v5928 = getelementptr inbounds i8, ptr %v5927, i64 3244032
  %v5929 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5930 = load ptr, ptr %v5929, !invariant.load !0
  %v5931 = getelementptr inbounds i8, ptr %v5930, i64 1900544
  %v5932 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5933 = load ptr, ptr %v5932, !invariant.load !0
  %v5934 = getelementptr inbounds i8, ptr %v5933, i64 1212416
  %v5935 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5936 = load ptr, ptr %v5935, !invariant.load !0
  %v5937 = getelementptr inbounds i8, ptr %v5936, i64 4669440
  %v5938 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5939 = load ptr, ptr %v5938, !invariant.load !0
  %v5940 = getelementptr inbounds i8, ptr %v5939, i64 245760
  %v5941 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5942 = load ptr, ptr %v5941, !invariant.load !0
  %v5943 = getelementptr inbounds i8, ptr %v5942, i64 4030464
  %v5944 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5945 = load ptr, ptr %v5944, !invariant.load !0
  %v5946 = getelementptr inbounds i8, ptr %v5945, i64 966656
  %v5947 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5948 = load ptr, ptr %v5947, !invariant.load !0
  %v5949 = getelementptr inbounds i8, ptr %v5948, i64 2670592
  %v5950 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5951 = load ptr, ptr %v5950, !invariant.load !0
  %v5952 = getelementptr inbounds i8, ptr %v5951, i64 2228224
  %v5953 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5954 = load ptr, ptr %v5953, !invariant.load !0
  %v5955 = getelementptr inbounds i8, ptr %v5954, i64 3014656
  %v5956 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5957 = load ptr, ptr %v5956, !invariant.load !0
  %v5958 = getelementptr inbounds i8, ptr %v5957, i64 819200
  %v5959 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5960 = load ptr, ptr %v5959, !invariant.load !0
  %v5961 = getelementptr inbounds i8, ptr %v5960, i64 4521984
  %v5962 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5963 = load ptr, ptr %v5962, !invariant.load !0
  %v5964 = getelementptr inbounds i8, ptr %v5963, i64 1867776
  %v5965 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5966 = load ptr, ptr %v5965, !invariant.load !0
  %v5967 = getelementptr inbounds i8, ptr %v5966, i64 2605056
  %v5968 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5969 = load ptr, ptr %v5968, !invariant.load !0
  %v5970 = getelementptr inbounds i8, ptr %v5969, i64 1064960
  %v5971 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5972 = load ptr, ptr %v5971, !invariant.load !0
  %v5973 = getelementptr inbounds i8, ptr %v5972, i64 2981888
  %v5974 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5975 = load ptr, ptr %v5974, !invariant.load !0
  %v5976 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5977 = load ptr, ptr %v5976, !invariant.load !0
  %v5978 = getelementptr inbounds i8, ptr %v5977, i64 2588672
  %v5979 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5980 = load ptr, ptr %v5979, !invariant.load !0
  %v5981 = getelementptr inbounds i8, ptr %v5980, i64 360448
  %v5982 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5983 = load ptr, ptr %v5982, !invariant.load !0
  %v5984 = getelementptr inbounds i8, ptr %v5983, i64 1507328
  %v5985 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5986 = load ptr, ptr %v5985, !invariant.load !0
  %v5987 = getelementptr inbounds i8, ptr %v5986, i64 3424256
  %v5988 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5989 = load ptr, ptr %v5988, !invariant.load !0
  %v5990 = getelementptr inbounds i8, ptr %v5989, i64 2883584
  %v5991 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5992 = load ptr, ptr %v5991, !invariant.load !0
  %v5993 = getelementptr inbounds i8, ptr %v5992, i64 2097152
  %v5994 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5995 = load ptr, ptr %v5994, !invariant.load !0
  %v5996 = getelementptr inbounds i8, ptr %v5995, i64 737280
  %v5997 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v5998 = load ptr, ptr %v5997, !invariant.load !0
  %v5999 = getelementptr inbounds i8, ptr %v5998, i64 5949184
  %v6000 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v6001 = load ptr, ptr %v6000, !invariant.load !0
  %v6002 = getelementptr inbounds i8, ptr %v6001, i64 4341760
  %v6003 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v6004 = load ptr, ptr %v6003, !invariant.load !0
  %v6005 = getelementptr inbounds i8, ptr %v6004, i64 5947392
  %v6007 = getelementptr inbounds ptr, ptr %slot6006, i64 0
  store ptr %v5820, ptr %v6007, align 8
  %v6008 = getelementptr inbounds ptr, ptr %slot6006, i64 1
  store ptr %v5823, ptr %v6008, align 8
  %v6009 = getelementptr inbounds ptr, ptr %slot6006, i64 2
  store ptr %v5826, ptr %v6009, align 8
  %v6010 = getelementptr inbounds ptr, ptr %slot6006, i64 3
  store ptr %v5829, ptr %v6010, align 8
  %v6011 = getelementptr inbounds ptr, ptr %slot6006, i64 4
  store ptr %v5832, ptr %v6011, align 8
  %v6012 = getelementptr inbounds ptr, ptr %slot6006, i64 5
  store ptr %v5835, ptr %v6012, align 8
  %v6013 = getelementptr inbounds ptr, ptr %slot6006, i64 6
  store ptr %v5838, ptr %v6013, align 8
  %v6014 = getelementptr inbounds ptr, ptr %slot6006, i64 7
  store ptr %v5841, ptr %v6014, align 8
  %v6015 = getelementptr inbounds ptr, ptr %slot6006, i64 8
  store ptr %v5844, ptr %v6015, align 8
  %v6016 = getelementptr inbounds ptr, ptr %slot6006, i64 9
  store ptr %v5847, ptr %v6016, align 8
  %v6017 = getelementptr inbounds ptr, ptr %slot6006, i64 10
  store ptr %v5850, ptr %v6017, align 8
  %v6018 = getelementptr inbounds ptr, ptr %slot6006, i64 11
  store ptr %v5853, ptr %v6018, align 8
  %v6019 = getelementptr inbounds ptr, ptr %slot6006, i64 12
  store ptr %v5856, ptr %v6019, align 8
  %v6020 = getelementptr inbounds ptr, ptr %slot6006, i64 13
  store ptr %v5859, ptr %v6020, align 8
  %v6021 = getelementptr inbounds ptr, ptr %slot6006, i64 14
  store ptr %v5862, ptr %v6021, align 8
  %v6022 = getelementptr inbounds ptr, ptr %slot6006, i64 15
  store ptr %v5865, ptr %v6022, align 8
  %v6023 = getelementptr inbounds ptr, ptr %slot6006, i64 16
  store ptr %v5868, ptr %v6023, align 8
  %v6024 = getelementptr inbounds ptr, ptr %slot6006, i64 17
  store ptr %v5871, ptr %v6024, align 8
  %v6025 = getelementptr inbounds ptr, ptr %slot6006, i64 18
  store ptr %v5874, ptr %v6025, align 8
  %v6026 = getelementptr inbounds ptr, ptr %slot6006, i64 19
  store ptr %v5877, ptr %v6026, align 8
  %v6027 = getelementptr inbounds ptr, ptr %slot6006, i64 20
  store ptr %v5880, ptr %v6027, align 8
  %v6028 = getelementptr inbounds ptr, ptr %slot6006, i64 21
  store ptr %v5883, ptr %v6028, align 8
  %v6029 = getelementptr inbounds ptr, ptr %slot6006, i64 22
  store ptr %v5886, ptr %v6029, align 8
  %v6030 = getelementptr inbounds ptr, ptr %slot6006, i64 23
  store ptr %v5889, ptr %v6030, align 8
  %v6031 = getelementptr inbounds ptr, ptr %slot6006, i64 24
  store ptr %v5892, ptr %v6031, align 8
  %v6032 = getelementptr inbounds ptr, ptr %slot6006, i64 25
  store ptr %v5895, ptr %v6032, align 8
  %v6033 = getelementptr inbounds ptr, ptr %slot6006, i64 26
  store ptr %v5898, ptr %v6033, align 8
  %v6034 = getelementptr inbounds ptr, ptr %slot6006, i64 27
  store ptr %v5901, ptr %v6034, align 8
  %v6035 = getelementptr inbounds ptr, ptr %slot6006, i64 28
  store ptr %v5904, ptr %v6035, align 8
  %v6036 = getelementptr inbounds ptr, ptr %slot6006, i64 29
  store ptr %v5907, ptr %v6036, align 8
  %v6037 = getelementptr inbounds ptr, ptr %slot6006, i64 30
  store ptr %v5910, ptr %v6037, align 8
  %v6038 = getelementptr inbounds ptr, ptr %slot6006, i64 31
  store ptr %v5913, ptr %v6038, align 8
  %v6039 = getelementptr inbounds ptr, ptr %slot6006, i64 32
  store ptr %v5916, ptr %v6039, align 8
  %v6040 = getelementptr inbounds ptr, ptr %slot6006, i64 33
  store ptr %v5919, ptr %v6040, align 8
  %v6041 = getelementptr inbounds ptr, ptr %slot6006, i64 34
  store ptr %v5922, ptr %v6041, align 8
  %v6042 = getelementptr inbounds ptr, ptr %slot6006, i64 35
  store ptr %v5925, ptr %v6042, align 8
  %v6043 = getelementptr inbounds ptr, ptr %slot6006, i64 36
  store ptr %v5928, ptr %v6043, align 8
  %v6044 = getelementptr inbounds ptr, ptr %slot6006, i64 37
  store ptr %v5931, ptr %v6044, align 8
  %v6045 = getelementptr inbounds ptr, ptr %slot6006, i64 38
  store ptr %v5934, ptr %v6045, align 8
  %v6046 = getelementptr inbounds ptr, ptr %slot6006, i64 39
  store ptr %v5937, ptr %v6046, align 8
  %v6047 = getelementptr inbounds ptr, ptr %slot6006, i64 40
  store ptr %v5940, ptr %v6047, align 8
  %v6048 = getelementptr inbounds ptr, ptr %slot6006, i64 41
  store ptr %v5943, ptr %v6048, align 8
  %v6049 = getelementptr inbounds ptr, ptr %slot6006, i64 42
  store ptr %v5946, ptr %v6049, align 8
  %v6050 = getelementptr inbounds ptr, ptr %slot6006, i64 43
  store ptr %v5949, ptr %v6050, align 8
  %v6051 = getelementptr inbounds ptr, ptr %slot6006, i64 44
  store ptr %v5952, ptr %v6051, align 8
  %v6052 = getelementptr inbounds ptr, ptr %slot6006, i64 45
  store ptr %v5955, ptr %v6052, align 8
  %v6053 = getelementptr inbounds ptr, ptr %slot6006, i64 46
  store ptr %v5958, ptr %v6053, align 8
  %v6054 = getelementptr inbounds ptr, ptr %slot6006, i64 47
  store ptr %v5961, ptr %v6054, align 8
  %v6055 = getelementptr inbounds ptr, ptr %slot6006, i64 48
  store ptr %v5964, ptr %v6055, align 8
  %v6056 = getelementptr inbounds ptr, ptr %slot6006, i64 49
  store ptr %v5967, ptr %v6056, align 8
  %v6057 = getelementptr inbounds ptr, ptr %slot6006, i64 50
  store ptr %v5970, ptr %v6057, align 8
  %v6058 = getelementptr inbounds ptr, ptr %slot6006, i64 51
  store ptr %v5973, ptr %v6058, align 8
  %v6059 = getelementptr inbounds ptr, ptr %slot6006, i64 52
  store ptr %v5975, ptr %v6059, align 8
  %v6060 = getelementptr inbounds ptr, ptr %slot6006, i64 53
  store ptr %v5978, ptr %v6060, align 8
  %v6061 = getelementptr inbounds ptr, ptr %slot6006, i64 54
  store ptr %v5981, ptr %v6061, align 8
  %v6062 = getelementptr inbounds ptr, ptr %slot6006, i64 55
  store ptr %v5984, ptr %v6062, align 8
  %v6063 = getelementptr inbounds ptr, ptr %slot6006, i64 56
  store ptr %v5987, ptr %v6063, align 8
  %v6064 = getelementptr inbounds ptr, ptr %slot6006, i64 57
  store ptr %v5990, ptr %v6064, align 8
  %v6065 = getelementptr inbounds ptr, ptr %slot6006, i64 58
  store ptr %v5993, ptr %v6065, align 8
  %v6066 = getelementptr inbounds ptr, ptr %slot6006, i64 59
  store ptr %v5996, ptr %v6066, align 8
  %v6067 = getelementptr inbounds ptr, ptr %slot6006, i64 60
  store ptr %v5999, ptr %v6067, align 8
  %v6068 = getelementptr inbounds ptr, ptr %slot6006, i64 61
  store ptr %v6002, ptr %v6068, align 8
  %v6069 = getelementptr inbounds ptr, ptr %slot6006, i64 62
  store ptr %v6005, ptr %v6069, align 8
  call void @xla_explorer_parallel_for(ptr @minimum_tanh_add_fusion_task, ptr %slot6006, i64 4)
  ret i32 0
}

define hidden i32 @xe_entry_part8(ptr noalias %arguments) nounwind optnone noinline "optimization-level"="final" {
entry:
  %v8139 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8140 = load ptr, ptr %v8139, !invariant.load !0
  %v8141 = getelementptr inbounds i8, ptr %v8140, i64 1327104
  %v8142 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8143 = load ptr, ptr %v8142, !invariant.load !0
  %v8144 = getelementptr inbounds i8, ptr %v8143, i64 5046272
  %v8145 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8146 = load ptr, ptr %v8145, !invariant.load !0
  %v8147 = getelementptr inbounds i8, ptr %v8146, i64 1310720
  %v8148 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8149 = load ptr, ptr %v8148, !invariant.load !0
  %v8150 = getelementptr inbounds i8, ptr %v8149, i64 3801088
  %v8151 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8152 = load ptr, ptr %v8151, !invariant.load !0
  %v8153 = getelementptr inbounds i8, ptr %v8152, i64 6652928
  %v8154 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8155 = load ptr, ptr %v8154, !invariant.load !0
  %v8156 = getelementptr inbounds i8, ptr %v8155, i64 2342912
  %v8157 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8158 = load ptr, ptr %v8157, !invariant.load !0
  %v8159 = getelementptr inbounds i8, ptr %v8158, i64 4734976
  %v8160 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8161 = load ptr, ptr %v8160, !invariant.load !0
  %v8162 = getelementptr inbounds i8, ptr %v8161, i64 1409024
  %v8163 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8164 = load ptr, ptr %v8163, !invariant.load !0
  %v8165 = getelementptr inbounds i8, ptr %v8164, i64 2637824
  %v8166 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8167 = load ptr, ptr %v8166, !invariant.load !0
  %v8168 = getelementptr inbounds i8, ptr %v8167, i64 5799936
  %v8169 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8170 = load ptr, ptr %v8169, !invariant.load !0
  %v8171 = getelementptr inbounds i8, ptr %v8170, i64 3112960
  %v8172 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8173 = load ptr, ptr %v8172, !invariant.load !0
  %v8174 = getelementptr inbounds i8, ptr %v8173, i64 2310144
  %v8175 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8176 = load ptr, ptr %v8175, !invariant.load !0
  %v8177 = getelementptr inbounds i8, ptr %v8176, i64 3162112
  %v8178 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8179 = load ptr, ptr %v8178, !invariant.load !0
  %v8180 = getelementptr inbounds i8, ptr %v8179, i64 3178496
  %v8181 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8182 = load ptr, ptr %v8181, !invariant.load !0
  %v8183 = getelementptr inbounds i8, ptr %v8182, i64 3194880
  %v8184 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8185 = load ptr, ptr %v8184, !invariant.load !0
  %v8186 = getelementptr inbounds i8, ptr %v8185, i64 3227648
  call void @minimum_multiply_add_maximum_fusion(ptr %v8141, ptr %v8144, ptr %v8147, ptr %v8150, ptr %v8153, ptr %v8156, ptr %v8159, ptr %v8162, ptr %v8165, ptr %v8168, ptr %v8171, ptr %v8174, ptr %v8177, ptr %v8180, ptr %v8183, ptr %v8186)
  %v8187 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8188 = load ptr, ptr %v8187, !invariant.load !0
  %v8189 = getelementptr inbounds i8, ptr %v8188, i64 933888
  %v8190 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8191 = load ptr, ptr %v8190, !invariant.load !0
  %v8192 = getelementptr inbounds i8, ptr %v8191, i64 4079616
  %v8193 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8194 = load ptr, ptr %v8193, !invariant.load !0
  %v8195 = getelementptr inbounds i8, ptr %v8194, i64 2080768
  %v8196 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8197 = load ptr, ptr %v8196, !invariant.load !0
  %v8198 = getelementptr inbounds i8, ptr %v8197, i64 2064384
  %v8199 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8200 = load ptr, ptr %v8199, !invariant.load !0
  %v8201 = getelementptr inbounds i8, ptr %v8200, i64 229376
  %v8202 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8203 = load ptr, ptr %v8202, !invariant.load !0
  %v8204 = getelementptr inbounds i8, ptr %v8203, i64 1097728
  %v8205 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8206 = load ptr, ptr %v8205, !invariant.load !0
  %v8207 = getelementptr inbounds i8, ptr %v8206, i64 589824
  %v8208 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8209 = load ptr, ptr %v8208, !invariant.load !0
  %v8210 = getelementptr inbounds i8, ptr %v8209, i64 2965504
  %v8211 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8212 = load ptr, ptr %v8211, !invariant.load !0
  %v8213 = getelementptr inbounds i8, ptr %v8212, i64 2310144
  %v8214 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8215 = load ptr, ptr %v8214, !invariant.load !0
  %v8216 = getelementptr inbounds i8, ptr %v8215, i64 3784704
  %v8217 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8218 = load ptr, ptr %v8217, !invariant.load !0
  %v8219 = getelementptr inbounds i8, ptr %v8218, i64 1261568
  %v8220 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8221 = load ptr, ptr %v8220, !invariant.load !0
  %v8222 = getelementptr inbounds i8, ptr %v8221, i64 2326528
  %v8223 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8224 = load ptr, ptr %v8223, !invariant.load !0
  %v8225 = getelementptr inbounds i8, ptr %v8224, i64 3244032
  %v8226 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8227 = load ptr, ptr %v8226, !invariant.load !0
  %v8228 = getelementptr inbounds i8, ptr %v8227, i64 3276800
  %v8229 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8230 = load ptr, ptr %v8229, !invariant.load !0
  %v8231 = getelementptr inbounds i8, ptr %v8230, i64 3293184
  call void @tanh_maximum_multiply_subtract_fusion_1(ptr %v8189, ptr %v8192, ptr %v8195, ptr %v8198, ptr %v8201, ptr %v8204, ptr %v8207, ptr %v8210, ptr %v8213, ptr %v8216, ptr %v8219, ptr %v8222, ptr %v8225, ptr %v8228, ptr %v8231)
  %v8232 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8233 = load ptr, ptr %v8232, !invariant.load !0
  %v8234 = getelementptr inbounds i8, ptr %v8233, i64 2965504
  %v8235 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8236 = load ptr, ptr %v8235, !invariant.load !0
  %v8237 = getelementptr inbounds i8, ptr %v8236, i64 3112960
  %v8238 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8239 = load ptr, ptr %v8238, !invariant.load !0
  %v8240 = getelementptr inbounds i8, ptr %v8239, i64 3309568
  call void @d73(ptr %v8234, ptr %v8237, ptr %v8240)
  %v8241 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8242 = load ptr, ptr %v8241, !invariant.load !0
  %v8243 = getelementptr inbounds i8, ptr %v8242, i64 1540096
  %v8244 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8245 = load ptr, ptr %v8244, !invariant.load !0
  %v8246 = getelementptr inbounds i8, ptr %v8245, i64 131072
  %v8247 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8248 = load ptr, ptr %v8247, !invariant.load !0
  %v8249 = getelementptr inbounds i8, ptr %v8248, i64 3473408
  %v8250 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8251 = load ptr, ptr %v8250, !invariant.load !0
  %v8252 = getelementptr inbounds i8, ptr %v8251, i64 2736128
  %v8253 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8254 = load ptr, ptr %v8253, !invariant.load !0
  %v8255 = getelementptr inbounds i8, ptr %v8254, i64 3309568
  %v8256 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8257 = load ptr, ptr %v8256, !invariant.load !0
  %v8258 = getelementptr inbounds i8, ptr %v8257, i64 3653632
  %v8259 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8260 = load ptr, ptr %v8259, !invariant.load !0
  %v8261 = getelementptr inbounds i8, ptr %v8260, i64 3325952
  %v8262 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8263 = load ptr, ptr %v8262, !invariant.load !0
  %v8264 = getelementptr inbounds i8, ptr %v8263, i64 1835008
  %v8265 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8266 = load ptr, ptr %v8265, !invariant.load !0
  %v8267 = getelementptr inbounds i8, ptr %v8266, i64 3883008
  %v8268 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8269 = load ptr, ptr %v8268, !invariant.load !0
  %v8270 = getelementptr inbounds i8, ptr %v8269, i64 3342336
  %v8271 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8272 = load ptr, ptr %v8271, !invariant.load !0
  %v8273 = getelementptr inbounds i8, ptr %v8272, i64 3407872
  %v8274 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8275 = load ptr, ptr %v8274, !invariant.load !0
  %v8276 = getelementptr inbounds i8, ptr %v8275, i64 3424256
  call void @maximum_tanh_minimum_subtract_fusion(ptr %v8243, ptr %v8246, ptr %v8249, ptr %v8252, ptr %v8255, ptr %v8258, ptr %v8261, ptr %v8264, ptr %v8267, ptr %v8270, ptr %v8273, ptr %v8276)
  %v8277 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8278 = load ptr, ptr %v8277, !invariant.load !0
  %v8279 = getelementptr inbounds i8, ptr %v8278, i64 3440640
  %v8280 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8281 = load ptr, ptr %v8280, !invariant.load !0
  %v8282 = getelementptr inbounds i8, ptr %v8281, i64 2850816
  %v8283 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8284 = load ptr, ptr %v8283, !invariant.load !0
  %v8285 = getelementptr inbounds i8, ptr %v8284, i64 1720320
  %v8286 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8287 = load ptr, ptr %v8286, !invariant.load !0
  %v8288 = getelementptr inbounds i8, ptr %v8287, i64 5406720
  %v8289 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8290 = load ptr, ptr %v8289, !invariant.load !0
  %v8291 = getelementptr inbounds i8, ptr %v8290, i64 360448
  %v8292 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8293 = load ptr, ptr %v8292, !invariant.load !0
  %v8294 = getelementptr inbounds i8, ptr %v8293, i64 475136
  %v8295 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8296 = load ptr, ptr %v8295, !invariant.load !0
  %v8297 = getelementptr inbounds i8, ptr %v8296, i64 2146304
  %v8298 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8299 = load ptr, ptr %v8298, !invariant.load !0
  %v8300 = getelementptr inbounds i8, ptr %v8299, i64 4734976
  %v8301 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8302 = load ptr, ptr %v8301, !invariant.load !0
  %v8303 = getelementptr inbounds i8, ptr %v8302, i64 3375104
  %v8304 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8305 = load ptr, ptr %v8304, !invariant.load !0
  %v8306 = getelementptr inbounds i8, ptr %v8305, i64 2228224
  %v8307 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8308 = load ptr, ptr %v8307, !invariant.load !0
  %v8309 = getelementptr inbounds i8, ptr %v8308, i64 3473408
  %v8310 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8311 = load ptr, ptr %v8310, !invariant.load !0
  %v8312 = getelementptr inbounds i8, ptr %v8311, i64 3489792
  %v8313 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8314 = load ptr, ptr %v8313, !invariant.load !0
  %v8315 = getelementptr inbounds i8, ptr %v8314, i64 3506176
  call void @tanh_maximum_add_multiply_fusion_1(ptr %v8279, ptr %v8282, ptr %v8285, ptr %v8288, ptr %v8291, ptr %v8294, ptr %v8297, ptr %v8300, ptr %v8303, ptr %v8306, ptr %v8309, ptr %v8312, ptr %v8315)
  %v8316 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8317 = load ptr, ptr %v8316, !invariant.load !0
  %v8318 = getelementptr inbounds i8, ptr %v8317, i64 950272
  %v8319 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8320 = load ptr, ptr %v8319, !invariant.load !0
  %v8321 = getelementptr inbounds i8, ptr %v8320, i64 2162688
  %v8322 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8323 = load ptr, ptr %v8322, !invariant.load !0
  %v8324 = getelementptr inbounds i8, ptr %v8323, i64 278528
  %v8325 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8326 = load ptr, ptr %v8325, !invariant.load !0
  %v8327 = getelementptr inbounds i8, ptr %v8326, i64 245760
  %v8328 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8329 = load ptr, ptr %v8328, !invariant.load !0
  %v8330 = getelementptr inbounds i8, ptr %v8329, i64 3047424
  %v8331 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8332 = load ptr, ptr %v8331, !invariant.load !0
  %v8333 = getelementptr inbounds i8, ptr %v8332, i64 5292032
  %v8334 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8335 = load ptr, ptr %v8334, !invariant.load !0
  %v8336 = getelementptr inbounds i8, ptr %v8335, i64 3981312
  %v8337 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8338 = load ptr, ptr %v8337, !invariant.load !0
  %v8339 = getelementptr inbounds i8, ptr %v8338, i64 1523712
  %v8340 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8341 = load ptr, ptr %v8340, !invariant.load !0
  %v8342 = getelementptr inbounds i8, ptr %v8341, i64 1851392
  %v8343 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8344 = load ptr, ptr %v8343, !invariant.load !0
  %v8345 = getelementptr inbounds i8, ptr %v8344, i64 1441792
  %v8346 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8347 = load ptr, ptr %v8346, !invariant.load !0
  %v8348 = getelementptr inbounds i8, ptr %v8347, i64 3440640
  %v8349 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8350 = load ptr, ptr %v8349, !invariant.load !0
  %v8351 = getelementptr inbounds i8, ptr %v8350, i64 5832704
  %v8352 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8353 = load ptr, ptr %v8352, !invariant.load !0
  %v8354 = getelementptr inbounds i8, ptr %v8353, i64 3538944
  %v8355 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8356 = load ptr, ptr %v8355, !invariant.load !0
  %v8357 = getelementptr inbounds i8, ptr %v8356, i64 3555328
  %v8358 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8359 = load ptr, ptr %v8358, !invariant.load !0
  %v8360 = getelementptr inbounds i8, ptr %v8359, i64 3571712
  %v8361 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8362 = load ptr, ptr %v8361, !invariant.load !0
  %v8363 = getelementptr inbounds i8, ptr %v8362, i64 3604480
  call void @multiply_subtract_add_fusion(ptr %v8318, ptr %v8321, ptr %v8324, ptr %v8327, ptr %v8330, ptr %v8333, ptr %v8336, ptr %v8339, ptr %v8342, ptr %v8345, ptr %v8348, ptr %v8351, ptr %v8354, ptr %v8357, ptr %v8360, ptr %v8363)
  %v8364 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8365 = load ptr, ptr %v8364, !invariant.load !0
  %v8366 = getelementptr inbounds i8, ptr %v8365, i64 5865472
  %v8367 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8368 = load ptr, ptr %v8367, !invariant.load !0
  %v8369 = getelementptr inbounds i8, ptr %v8368, i64 3571712
  %v8370 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8371 = load ptr, ptr %v8370, !invariant.load !0
  %v8372 = getelementptr inbounds i8, ptr %v8371, i64 3325952
  call void @subtract_multiply_tanh_fusion_28(ptr %v8366, ptr %v8369, ptr %v8372)
  %v8373 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8374 = load ptr, ptr %v8373, !invariant.load !0
  %v8375 = getelementptr inbounds i8, ptr %v8374, i64 6653696
  %v8376 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8377 = load ptr, ptr %v8376, !invariant.load !0
  %v8378 = getelementptr inbounds i8, ptr %v8377, i64 6654464
  call void @wrapped_tanh_533(ptr %v8375, ptr %v8378)
  %v8379 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8380 = load ptr, ptr %v8379, !invariant.load !0
  %v8381 = getelementptr inbounds i8, ptr %v8380, i64 6654464
  %v8382 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8383 = load ptr, ptr %v8382, !invariant.load !0
  %v8384 = getelementptr inbounds i8, ptr %v8383, i64 6654720
  call void @wrapped_tanh_533(ptr %v8381, ptr %v8384)
  %v8385 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8386 = load ptr, ptr %v8385, !invariant.load !0
  %v8387 = getelementptr inbounds i8, ptr %v8386, i64 3358720
  %v8388 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8389 = load ptr, ptr %v8388, !invariant.load !0
  %v8390 = getelementptr inbounds i8, ptr %v8389, i64 4325376
  %v8391 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8392 = load ptr, ptr %v8391, !invariant.load !0
  %v8393 = getelementptr inbounds i8, ptr %v8392, i64 49152
  %v8394 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8395 = load ptr, ptr %v8394, !invariant.load !0
  %v8396 = getelementptr inbounds i8, ptr %v8395, i64 2179072
  %v8397 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8398 = load ptr, ptr %v8397, !invariant.load !0
  %v8399 = getelementptr inbounds i8, ptr %v8398, i64 294912
  %v8400 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8401 = load ptr, ptr %v8400, !invariant.load !0
  %v8402 = getelementptr inbounds i8, ptr %v8401, i64 5652480
  %v8403 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8404 = load ptr, ptr %v8403, !invariant.load !0
  %v8405 = getelementptr inbounds i8, ptr %v8404, i64 1130496
  %v8406 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8407 = load ptr, ptr %v8406, !invariant.load !0
  %v8408 = getelementptr inbounds i8, ptr %v8407, i64 5570560
  %v8409 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8410 = load ptr, ptr %v8409, !invariant.load !0
  %v8411 = getelementptr inbounds i8, ptr %v8410, i64 2703360
  %v8412 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8413 = load ptr, ptr %v8412, !invariant.load !0
  %v8414 = getelementptr inbounds i8, ptr %v8413, i64 2621440
  %v8415 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8416 = load ptr, ptr %v8415, !invariant.load !0
  %v8417 = getelementptr inbounds i8, ptr %v8416, i64 3588096
  %v8418 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8419 = load ptr, ptr %v8418, !invariant.load !0
  %v8420 = getelementptr inbounds i8, ptr %v8419, i64 3670016
  %v8421 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8422 = load ptr, ptr %v8421, !invariant.load !0
  %v8423 = getelementptr inbounds i8, ptr %v8422, i64 3686400
  call void @maximum_tanh_multiply_subtract_fusion(ptr %v8387, ptr %v8390, ptr %v8393, ptr %v8396, ptr %v8399, ptr %v8402, ptr %v8405, ptr %v8408, ptr %v8411, ptr %v8414, ptr %v8417, ptr %v8420, ptr %v8423)
  %v8424 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8425 = load ptr, ptr %v8424, !invariant.load !0
  %v8426 = getelementptr inbounds i8, ptr %v8425, i64 5948928
  %v8427 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8428 = load ptr, ptr %v8427, !invariant.load !0
  %v8429 = getelementptr inbounds i8, ptr %v8428, i64 262144
  %v8430 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8431 = load ptr, ptr %v8430, !invariant.load !0
  %v8432 = getelementptr inbounds i8, ptr %v8431, i64 3653632
  %v8433 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8434 = load ptr, ptr %v8433, !invariant.load !0
  %v8435 = getelementptr inbounds i8, ptr %v8434, i64 507904
  %v8436 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8437 = load ptr, ptr %v8436, !invariant.load !0
  %v8438 = getelementptr inbounds i8, ptr %v8437, i64 1245184
  %v8439 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8440 = load ptr, ptr %v8439, !invariant.load !0
  %v8441 = getelementptr inbounds i8, ptr %v8440, i64 5242880
  %v8442 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8443 = load ptr, ptr %v8442, !invariant.load !0
  %v8444 = getelementptr inbounds i8, ptr %v8443, i64 2310144
  %v8445 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8446 = load ptr, ptr %v8445, !invariant.load !0
  %v8447 = getelementptr inbounds i8, ptr %v8446, i64 2883584
  %v8448 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8449 = load ptr, ptr %v8448, !invariant.load !0
  %v8450 = getelementptr inbounds i8, ptr %v8449, i64 5865472
  %v8451 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8452 = load ptr, ptr %v8451, !invariant.load !0
  %v8453 = getelementptr inbounds i8, ptr %v8452, i64 3702784
  %v8454 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8455 = load ptr, ptr %v8454, !invariant.load !0
  %v8456 = getelementptr inbounds i8, ptr %v8455, i64 3817472
  %v8457 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8458 = load ptr, ptr %v8457, !invariant.load !0
  %v8459 = getelementptr inbounds i8, ptr %v8458, i64 3866624
  %v8460 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8461 = load ptr, ptr %v8460, !invariant.load !0
  %v8462 = getelementptr inbounds i8, ptr %v8461, i64 3899392
  %v8463 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8464 = load ptr, ptr %v8463, !invariant.load !0
  %v8465 = getelementptr inbounds i8, ptr %v8464, i64 3915776
  %v8466 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8467 = load ptr, ptr %v8466, !invariant.load !0
  %v8468 = getelementptr inbounds i8, ptr %v8467, i64 3964928
  %v8469 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8470 = load ptr, ptr %v8469, !invariant.load !0
  %v8471 = getelementptr inbounds i8, ptr %v8470, i64 3997696
  %v8472 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8473 = load ptr, ptr %v8472, !invariant.load !0
  %v8474 = getelementptr inbounds i8, ptr %v8473, i64 4030464
  %v8475 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8476 = load ptr, ptr %v8475, !invariant.load !0
  %v8477 = getelementptr inbounds i8, ptr %v8476, i64 4096000
  call void @multiply_tanh_add_subtract_fusion_1(ptr %v8426, ptr %v8429, ptr %v8432, ptr %v8435, ptr %v8438, ptr %v8441, ptr %v8444, ptr %v8447, ptr %v8450, ptr %v8453, ptr %v8456, ptr %v8459, ptr %v8462, ptr %v8465, ptr %v8468, ptr %v8471, ptr %v8474, ptr %v8477)
  %v8478 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8479 = load ptr, ptr %v8478, !invariant.load !0
  %v8480 = getelementptr inbounds i8, ptr %v8479, i64 3948544
  %v8481 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8482 = load ptr, ptr %v8481, !invariant.load !0
  %v8483 = getelementptr inbounds i8, ptr %v8482, i64 5259264
  %v8484 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8485 = load ptr, ptr %v8484, !invariant.load !0
  %v8486 = getelementptr inbounds i8, ptr %v8485, i64 196608
  %v8487 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8488 = load ptr, ptr %v8487, !invariant.load !0
  %v8489 = getelementptr inbounds i8, ptr %v8488, i64 2621440
  %v8490 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8491 = load ptr, ptr %v8490, !invariant.load !0
  %v8492 = getelementptr inbounds i8, ptr %v8491, i64 983040
  %v8493 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8494 = load ptr, ptr %v8493, !invariant.load !0
  %v8495 = getelementptr inbounds i8, ptr %v8494, i64 2129920
  %v8496 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8497 = load ptr, ptr %v8496, !invariant.load !0
  %v8498 = getelementptr inbounds i8, ptr %v8497, i64 2555904
  %v8499 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8500 = load ptr, ptr %v8499, !invariant.load !0
  %v8501 = getelementptr inbounds i8, ptr %v8500, i64 5865472
  %v8502 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8503 = load ptr, ptr %v8502, !invariant.load !0
  %v8504 = getelementptr inbounds i8, ptr %v8503, i64 3735552
  %v8505 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8506 = load ptr, ptr %v8505, !invariant.load !0
  %v8507 = getelementptr inbounds i8, ptr %v8506, i64 4800512
  %v8508 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8509 = load ptr, ptr %v8508, !invariant.load !0
  %v8510 = getelementptr inbounds i8, ptr %v8509, i64 3915776
  %v8511 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8512 = load ptr, ptr %v8511, !invariant.load !0
  %v8513 = getelementptr inbounds i8, ptr %v8512, i64 4128768
  %v8514 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8515 = load ptr, ptr %v8514, !invariant.load !0
  %v8516 = getelementptr inbounds i8, ptr %v8515, i64 4145152
  %v8517 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8518 = load ptr, ptr %v8517, !invariant.load !0
  %v8519 = getelementptr inbounds i8, ptr %v8518, i64 4161536
  %v8520 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8521 = load ptr, ptr %v8520, !invariant.load !0
  %v8522 = getelementptr inbounds i8, ptr %v8521, i64 4210688
  call void @tanh_multiply_fusion_17(ptr %v8480, ptr %v8483, ptr %v8486, ptr %v8489, ptr %v8492, ptr %v8495, ptr %v8498, ptr %v8501, ptr %v8504, ptr %v8507, ptr %v8510, ptr %v8513, ptr %v8516, ptr %v8519, ptr %v8522)
  %v8523 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8524 = load ptr, ptr %v8523, !invariant.load !0
  %v8525 = getelementptr inbounds i8, ptr %v8524, i64 163840
  %v8526 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8527 = load ptr, ptr %v8526, !invariant.load !0
  %v8528 = getelementptr inbounds i8, ptr %v8527, i64 4128768
  %v8529 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8530 = load ptr, ptr %v8529, !invariant.load !0
  %v8531 = getelementptr inbounds i8, ptr %v8530, i64 1163264
  %v8532 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8533 = load ptr, ptr %v8532, !invariant.load !0
  %v8534 = getelementptr inbounds i8, ptr %v8533, i64 2064384
  %v8535 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8536 = load ptr, ptr %v8535, !invariant.load !0
  %v8537 = getelementptr inbounds i8, ptr %v8536, i64 3948544
  %v8538 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8539 = load ptr, ptr %v8538, !invariant.load !0
  %v8540 = getelementptr inbounds i8, ptr %v8539, i64 1130496
  %v8541 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8542 = load ptr, ptr %v8541, !invariant.load !0
  %v8543 = getelementptr inbounds i8, ptr %v8542, i64 786432
  %v8544 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8545 = load ptr, ptr %v8544, !invariant.load !0
  %v8546 = getelementptr inbounds i8, ptr %v8545, i64 2834432
  %v8547 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8548 = load ptr, ptr %v8547, !invariant.load !0
  %v8549 = getelementptr inbounds i8, ptr %v8548, i64 1703936
  %v8550 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8551 = load ptr, ptr %v8550, !invariant.load !0
  %v8552 = getelementptr inbounds i8, ptr %v8551, i64 2572288
  %v8553 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8554 = load ptr, ptr %v8553, !invariant.load !0
  %v8555 = getelementptr inbounds i8, ptr %v8554, i64 4292608
  %v8556 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8557 = load ptr, ptr %v8556, !invariant.load !0
  %v8558 = getelementptr inbounds i8, ptr %v8557, i64 4308992
  %v8559 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8560 = load ptr, ptr %v8559, !invariant.load !0
  %v8561 = getelementptr inbounds i8, ptr %v8560, i64 4341760
  %v8562 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8563 = load ptr, ptr %v8562, !invariant.load !0
  %v8564 = getelementptr inbounds i8, ptr %v8563, i64 4390912
  %v8565 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8566 = load ptr, ptr %v8565, !invariant.load !0
  %v8567 = getelementptr inbounds i8, ptr %v8566, i64 4472832
  %v8568 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8569 = load ptr, ptr %v8568, !invariant.load !0
  %v8570 = getelementptr inbounds i8, ptr %v8569, i64 4489216
  call void @subtract_multiply_tanh_fusion_27(ptr %v8525, ptr %v8528, ptr %v8531, ptr %v8534, ptr %v8537, ptr %v8540, ptr %v8543, ptr %v8546, ptr %v8549, ptr %v8552, ptr %v8555, ptr %v8558, ptr %v8561, ptr %v8564, ptr %v8567, ptr %v8570)
  %v8571 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8572 = load ptr, ptr %v8571, !invariant.load !0
  %v8573 = getelementptr inbounds i8, ptr %v8572, i64 4390912
  %v8574 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8575 = load ptr, ptr %v8574, !invariant.load !0
  %v8576 = getelementptr inbounds i8, ptr %v8575, i64 2195456
  %v8577 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8578 = load ptr, ptr %v8577, !invariant.load !0
  %v8579 = getelementptr inbounds i8, ptr %v8578, i64 4521984
  call void @d73(ptr %v8573, ptr %v8576, ptr %v8579)
  %v8580 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8581 = load ptr, ptr %v8580, !invariant.load !0
  %v8582 = getelementptr inbounds i8, ptr %v8581, i64 983040
  %v8583 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8584 = load ptr, ptr %v8583, !invariant.load !0
  %v8585 = getelementptr inbounds i8, ptr %v8584, i64 1261568
  %v8586 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8587 = load ptr, ptr %v8586, !invariant.load !0
  %v8588 = getelementptr inbounds i8, ptr %v8587, i64 4554752
  %v8589 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8590 = load ptr, ptr %v8589, !invariant.load !0
  %v8591 = getelementptr inbounds i8, ptr %v8590, i64 835584
  %v8592 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8593 = load ptr, ptr %v8592, !invariant.load !0
  %v8594 = getelementptr inbounds i8, ptr %v8593, i64 2916352
  %v8595 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8596 = load ptr, ptr %v8595, !invariant.load !0
  %v8597 = getelementptr inbounds i8, ptr %v8596, i64 5210112
  %v8598 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8599 = load ptr, ptr %v8598, !invariant.load !0
  %v8600 = getelementptr inbounds i8, ptr %v8599, i64 5586944
  %v8601 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8602 = load ptr, ptr %v8601, !invariant.load !0
  %v8603 = getelementptr inbounds i8, ptr %v8602, i64 2899968
  %v8604 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8605 = load ptr, ptr %v8604, !invariant.load !0
  %v8606 = getelementptr inbounds i8, ptr %v8605, i64 2326528
  %v8607 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8608 = load ptr, ptr %v8607, !invariant.load !0
  %v8609 = getelementptr inbounds i8, ptr %v8608, i64 6652928
  %v8610 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8611 = load ptr, ptr %v8610, !invariant.load !0
  %v8612 = getelementptr inbounds i8, ptr %v8611, i64 5292032
  %v8613 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8614 = load ptr, ptr %v8613, !invariant.load !0
  %v8615 = getelementptr inbounds i8, ptr %v8614, i64 5718016
  %v8616 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8617 = load ptr, ptr %v8616, !invariant.load !0
  %v8618 = getelementptr inbounds i8, ptr %v8617, i64 5554176
  %v8619 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8620 = load ptr, ptr %v8619, !invariant.load !0
  %v8621 = getelementptr inbounds i8, ptr %v8620, i64 4538368
  %v8622 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8623 = load ptr, ptr %v8622, !invariant.load !0
  %v8624 = getelementptr inbounds i8, ptr %v8623, i64 4620288
  call void @multiply_minimum_tanh_add_fusion_1(ptr %v8582, ptr %v8585, ptr %v8588, ptr %v8591, ptr %v8594, ptr %v8597, ptr %v8600, ptr %v8603, ptr %v8606, ptr %v8609, ptr %v8612, ptr %v8615, ptr %v8618, ptr %v8621, ptr %v8624)
  %v8625 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8626 = load ptr, ptr %v8625, !invariant.load !0
  %v8627 = getelementptr inbounds i8, ptr %v8626, i64 2326528
  %v8628 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8629 = load ptr, ptr %v8628, !invariant.load !0
  %v8630 = getelementptr inbounds i8, ptr %v8629, i64 4620288
  %v8631 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8632 = load ptr, ptr %v8631, !invariant.load !0
  %v8633 = getelementptr inbounds i8, ptr %v8632, i64 458752
  %v8634 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8635 = load ptr, ptr %v8634, !invariant.load !0
  %v8636 = getelementptr inbounds i8, ptr %v8635, i64 2113536
  %v8637 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8638 = load ptr, ptr %v8637, !invariant.load !0
  %v8639 = getelementptr inbounds i8, ptr %v8638, i64 1474560
  %v8640 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8641 = load ptr, ptr %v8640, !invariant.load !0
  %v8642 = getelementptr inbounds i8, ptr %v8641, i64 1572864
  %v8643 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8644 = load ptr, ptr %v8643, !invariant.load !0
  %v8645 = getelementptr inbounds i8, ptr %v8644, i64 2785280
  %v8646 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8647 = load ptr, ptr %v8646, !invariant.load !0
  %v8648 = getelementptr inbounds i8, ptr %v8647, i64 1441792
  %v8649 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8650 = load ptr, ptr %v8649, !invariant.load !0
  %v8651 = getelementptr inbounds i8, ptr %v8650, i64 131072
  %v8652 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8653 = load ptr, ptr %v8652, !invariant.load !0
  %v8654 = getelementptr inbounds i8, ptr %v8653, i64 4636672
  %v8655 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8656 = load ptr, ptr %v8655, !invariant.load !0
  %v8657 = getelementptr inbounds i8, ptr %v8656, i64 4653056
  %v8658 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8659 = load ptr, ptr %v8658, !invariant.load !0
  %v8660 = getelementptr inbounds i8, ptr %v8659, i64 4669440
  call void @maximum_tanh_multiply_add_fusion(ptr %v8627, ptr %v8630, ptr %v8633, ptr %v8636, ptr %v8639, ptr %v8642, ptr %v8645, ptr %v8648, ptr %v8651, ptr %v8654, ptr %v8657, ptr %v8660)
  %v8661 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8662 = load ptr, ptr %v8661, !invariant.load !0
  %v8663 = getelementptr inbounds i8, ptr %v8662, i64 3211264
  %v8664 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8665 = load ptr, ptr %v8664, !invariant.load !0
  %v8666 = getelementptr inbounds i8, ptr %v8665, i64 1998848
  %v8667 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8668 = load ptr, ptr %v8667, !invariant.load !0
  %v8669 = getelementptr inbounds i8, ptr %v8668, i64 1589248
  %v8670 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8671 = load ptr, ptr %v8670, !invariant.load !0
  %v8672 = getelementptr inbounds i8, ptr %v8671, i64 3735552
  %v8673 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8674 = load ptr, ptr %v8673, !invariant.load !0
  %v8675 = getelementptr inbounds i8, ptr %v8674, i64 1556480
  %v8676 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8677 = load ptr, ptr %v8676, !invariant.load !0
  %v8678 = getelementptr inbounds i8, ptr %v8677, i64 1785856
  %v8679 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8680 = load ptr, ptr %v8679, !invariant.load !0
  %v8681 = getelementptr inbounds i8, ptr %v8680, i64 4898816
  %v8682 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8683 = load ptr, ptr %v8682, !invariant.load !0
  %v8684 = getelementptr inbounds i8, ptr %v8683, i64 4685824
  %v8685 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8686 = load ptr, ptr %v8685, !invariant.load !0
  %v8687 = getelementptr inbounds i8, ptr %v8686, i64 4702208
  %v8688 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8689 = load ptr, ptr %v8688, !invariant.load !0
  %v8690 = getelementptr inbounds i8, ptr %v8689, i64 4718592
  %v8691 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8692 = load ptr, ptr %v8691, !invariant.load !0
  %v8693 = getelementptr inbounds i8, ptr %v8692, i64 4767744
  %v8694 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8695 = load ptr, ptr %v8694, !invariant.load !0
  %v8696 = getelementptr inbounds i8, ptr %v8695, i64 4816896
  %v8697 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8698 = load ptr, ptr %v8697, !invariant.load !0
  %v8699 = getelementptr inbounds i8, ptr %v8698, i64 4833280
  %v8700 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8701 = load ptr, ptr %v8700, !invariant.load !0
  %v8702 = getelementptr inbounds i8, ptr %v8701, i64 4866048
  call void @tanh_multiply_maximum_fusion_5(ptr %v8663, ptr %v8666, ptr %v8669, ptr %v8672, ptr %v8675, ptr %v8678, ptr %v8681, ptr %v8684, ptr %v8687, ptr %v8690, ptr %v8693, ptr %v8696, ptr %v8699, ptr %v8702)
  %v8703 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8704 = load ptr, ptr %v8703, !invariant.load !0
  %v8705 = getelementptr inbounds i8, ptr %v8704, i64 3112960
  %v8706 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8707 = load ptr, ptr %v8706, !invariant.load !0
  %v8708 = getelementptr inbounds i8, ptr %v8707, i64 999424
  %v8709 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8710 = load ptr, ptr %v8709, !invariant.load !0
  %v8711 = getelementptr inbounds i8, ptr %v8710, i64 3915776
  %v8712 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8713 = load ptr, ptr %v8712, !invariant.load !0
  %v8714 = getelementptr inbounds i8, ptr %v8713, i64 5259264
  %v8715 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8716 = load ptr, ptr %v8715, !invariant.load !0
  %v8717 = getelementptr inbounds i8, ptr %v8716, i64 1802240
  %v8718 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8719 = load ptr, ptr %v8718, !invariant.load !0
  %v8720 = getelementptr inbounds i8, ptr %v8719, i64 4259840
  %v8721 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8722 = load ptr, ptr %v8721, !invariant.load !0
  %v8723 = getelementptr inbounds i8, ptr %v8722, i64 3244032
  %v8724 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8725 = load ptr, ptr %v8724, !invariant.load !0
  %v8726 = getelementptr inbounds i8, ptr %v8725, i64 2277376
  %v8727 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8728 = load ptr, ptr %v8727, !invariant.load !0
  %v8729 = getelementptr inbounds i8, ptr %v8728, i64 4210688
  %v8730 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8731 = load ptr, ptr %v8730, !invariant.load !0
  %v8732 = getelementptr inbounds i8, ptr %v8731, i64 4816896
  %v8733 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8734 = load ptr, ptr %v8733, !invariant.load !0
  %v8735 = getelementptr inbounds i8, ptr %v8734, i64 2834432
  %v8736 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8737 = load ptr, ptr %v8736, !invariant.load !0
  %v8738 = getelementptr inbounds i8, ptr %v8737, i64 3981312
  %v8739 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8740 = load ptr, ptr %v8739, !invariant.load !0
  %v8741 = getelementptr inbounds i8, ptr %v8740, i64 4882432
  %v8742 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8743 = load ptr, ptr %v8742, !invariant.load !0
  %v8744 = getelementptr inbounds i8, ptr %v8743, i64 4931584
  %v8745 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8746 = load ptr, ptr %v8745, !invariant.load !0
  %v8747 = getelementptr inbounds i8, ptr %v8746, i64 4964352
  call void @minimum_multiply_subtract_maximum_fusion_1(ptr %v8705, ptr %v8708, ptr %v8711, ptr %v8714, ptr %v8717, ptr %v8720, ptr %v8723, ptr %v8726, ptr %v8729, ptr %v8732, ptr %v8735, ptr %v8738, ptr %v8741, ptr %v8744, ptr %v8747)
  %v8748 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8749 = load ptr, ptr %v8748, !invariant.load !0
  %v8750 = getelementptr inbounds i8, ptr %v8749, i64 3457024
  %v8751 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8752 = load ptr, ptr %v8751, !invariant.load !0
  %v8753 = getelementptr inbounds i8, ptr %v8752, i64 3768320
  %v8754 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8755 = load ptr, ptr %v8754, !invariant.load !0
  %v8756 = getelementptr inbounds i8, ptr %v8755, i64 2539520
  %v8757 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8758 = load ptr, ptr %v8757, !invariant.load !0
  %v8759 = getelementptr inbounds i8, ptr %v8758, i64 4177920
  %v8760 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8761 = load ptr, ptr %v8760, !invariant.load !0
  %v8762 = getelementptr inbounds i8, ptr %v8761, i64 1228800
  %v8763 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8764 = load ptr, ptr %v8763, !invariant.load !0
  %v8765 = getelementptr inbounds i8, ptr %v8764, i64 3342336
  %v8766 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8767 = load ptr, ptr %v8766, !invariant.load !0
  %v8768 = getelementptr inbounds i8, ptr %v8767, i64 262144
  %v8769 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8770 = load ptr, ptr %v8769, !invariant.load !0
  %v8771 = getelementptr inbounds i8, ptr %v8770, i64 229376
  %v8772 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8773 = load ptr, ptr %v8772, !invariant.load !0
  %v8774 = getelementptr inbounds i8, ptr %v8773, i64 4128768
  %v8775 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8776 = load ptr, ptr %v8775, !invariant.load !0
  %v8777 = getelementptr inbounds i8, ptr %v8776, i64 2998272
  %v8778 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8779 = load ptr, ptr %v8778, !invariant.load !0
  %v8780 = getelementptr inbounds i8, ptr %v8779, i64 5013504
  %v8781 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8782 = load ptr, ptr %v8781, !invariant.load !0
  %v8783 = getelementptr inbounds i8, ptr %v8782, i64 5079040
  %v8784 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8785 = load ptr, ptr %v8784, !invariant.load !0
  %v8786 = getelementptr inbounds i8, ptr %v8785, i64 5095424
  call void @tanh_minimum_maximum_multiply_fusion(ptr %v8750, ptr %v8753, ptr %v8756, ptr %v8759, ptr %v8762, ptr %v8765, ptr %v8768, ptr %v8771, ptr %v8774, ptr %v8777, ptr %v8780, ptr %v8783, ptr %v8786)
  %v8787 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8788 = load ptr, ptr %v8787, !invariant.load !0
  %v8789 = getelementptr inbounds i8, ptr %v8788, i64 4521984
  %v8790 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8791 = load ptr, ptr %v8790, !invariant.load !0
  %v8792 = getelementptr inbounds i8, ptr %v8791, i64 1703936
  %v8793 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8794 = load ptr, ptr %v8793, !invariant.load !0
  %v8795 = getelementptr inbounds i8, ptr %v8794, i64 5029888
  %v8796 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8797 = load ptr, ptr %v8796, !invariant.load !0
  %v8798 = getelementptr inbounds i8, ptr %v8797, i64 344064
  %v8799 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8800 = load ptr, ptr %v8799, !invariant.load !0
  %v8801 = getelementptr inbounds i8, ptr %v8800, i64 3194880
  %v8802 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8803 = load ptr, ptr %v8802, !invariant.load !0
  %v8804 = getelementptr inbounds i8, ptr %v8803, i64 802816
  %v8805 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8806 = load ptr, ptr %v8805, !invariant.load !0
  %v8807 = getelementptr inbounds i8, ptr %v8806, i64 1753088
  %v8808 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8809 = load ptr, ptr %v8808, !invariant.load !0
  %v8810 = getelementptr inbounds i8, ptr %v8809, i64 4194304
  %v8811 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8812 = load ptr, ptr %v8811, !invariant.load !0
  %v8813 = getelementptr inbounds i8, ptr %v8812, i64 2310144
  %v8814 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8815 = load ptr, ptr %v8814, !invariant.load !0
  %v8816 = getelementptr inbounds i8, ptr %v8815, i64 1294336
  %v8817 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8818 = load ptr, ptr %v8817, !invariant.load !0
  %v8819 = getelementptr inbounds i8, ptr %v8818, i64 5111808
  %v8820 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8821 = load ptr, ptr %v8820, !invariant.load !0
  %v8822 = getelementptr inbounds i8, ptr %v8821, i64 5193728
  %v8823 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8824 = load ptr, ptr %v8823, !invariant.load !0
  %v8825 = getelementptr inbounds i8, ptr %v8824, i64 5226496
  %v8826 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8827 = load ptr, ptr %v8826, !invariant.load !0
  %v8828 = getelementptr inbounds i8, ptr %v8827, i64 5308416
  call void @tanh_multiply_maximum_subtract_fusion_3(ptr %v8789, ptr %v8792, ptr %v8795, ptr %v8798, ptr %v8801, ptr %v8804, ptr %v8807, ptr %v8810, ptr %v8813, ptr %v8816, ptr %v8819, ptr %v8822, ptr %v8825, ptr %v8828)
  %v8829 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8830 = load ptr, ptr %v8829, !invariant.load !0
  %v8831 = getelementptr inbounds i8, ptr %v8830, i64 2949120
  %v8832 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8833 = load ptr, ptr %v8832, !invariant.load !0
  %v8834 = getelementptr inbounds i8, ptr %v8833, i64 1130496
  %v8835 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8836 = load ptr, ptr %v8835, !invariant.load !0
  %v8837 = getelementptr inbounds i8, ptr %v8836, i64 147456
  %v8838 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8839 = load ptr, ptr %v8838, !invariant.load !0
  %v8840 = getelementptr inbounds i8, ptr %v8839, i64 1343488
  %v8841 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8842 = load ptr, ptr %v8841, !invariant.load !0
  %v8843 = getelementptr inbounds i8, ptr %v8842, i64 3670016
  %v8844 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8845 = load ptr, ptr %v8844, !invariant.load !0
  %v8846 = getelementptr inbounds i8, ptr %v8845, i64 1441792
  %v8847 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8848 = load ptr, ptr %v8847, !invariant.load !0
  %v8849 = getelementptr inbounds i8, ptr %v8848, i64 2703360
  %v8850 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8851 = load ptr, ptr %v8850, !invariant.load !0
  %v8852 = getelementptr inbounds i8, ptr %v8851, i64 3293184
  %v8853 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8854 = load ptr, ptr %v8853, !invariant.load !0
  %v8855 = getelementptr inbounds i8, ptr %v8854, i64 49152
  %v8856 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8857 = load ptr, ptr %v8856, !invariant.load !0
  %v8858 = getelementptr inbounds i8, ptr %v8857, i64 5226496
  %v8859 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8860 = load ptr, ptr %v8859, !invariant.load !0
  %v8861 = getelementptr inbounds i8, ptr %v8860, i64 3457024
  %v8862 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8863 = load ptr, ptr %v8862, !invariant.load !0
  %v8864 = getelementptr inbounds i8, ptr %v8863, i64 1671168
  %v8865 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8866 = load ptr, ptr %v8865, !invariant.load !0
  %v8867 = getelementptr inbounds i8, ptr %v8866, i64 1474560
  %v8868 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8869 = load ptr, ptr %v8868, !invariant.load !0
  %v8870 = getelementptr inbounds i8, ptr %v8869, i64 5324800
  %v8871 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8872 = load ptr, ptr %v8871, !invariant.load !0
  %v8873 = getelementptr inbounds i8, ptr %v8872, i64 5341184
  %v8874 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8875 = load ptr, ptr %v8874, !invariant.load !0
  %v8876 = getelementptr inbounds i8, ptr %v8875, i64 5390336
  call void @add_multiply_minimum_maximum_fusion(ptr %v8831, ptr %v8834, ptr %v8837, ptr %v8840, ptr %v8843, ptr %v8846, ptr %v8849, ptr %v8852, ptr %v8855, ptr %v8858, ptr %v8861, ptr %v8864, ptr %v8867, ptr %v8870, ptr %v8873, ptr %v8876)
  %v8877 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8878 = load ptr, ptr %v8877, !invariant.load !0
  %v8879 = getelementptr inbounds i8, ptr %v8878, i64 2228224
  %v8880 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8881 = load ptr, ptr %v8880, !invariant.load !0
  %v8882 = getelementptr inbounds i8, ptr %v8881, i64 2981888
  %v8883 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8884 = load ptr, ptr %v8883, !invariant.load !0
  %v8885 = getelementptr inbounds i8, ptr %v8884, i64 3555328
  %v8886 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8887 = load ptr, ptr %v8886, !invariant.load !0
  %v8888 = getelementptr inbounds i8, ptr %v8887, i64 327680
  %v8889 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8890 = load ptr, ptr %v8889, !invariant.load !0
  %v8891 = getelementptr inbounds i8, ptr %v8890, i64 5455872
  %v8892 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8893 = load ptr, ptr %v8892, !invariant.load !0
  %v8894 = getelementptr inbounds i8, ptr %v8893, i64 6654464
  %v8895 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8896 = load ptr, ptr %v8895, !invariant.load !0
  %v8897 = getelementptr inbounds i8, ptr %v8896, i64 540672
  %v8898 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8899 = load ptr, ptr %v8898, !invariant.load !0
  %v8900 = getelementptr inbounds i8, ptr %v8899, i64 2637824
  %v8901 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8902 = load ptr, ptr %v8901, !invariant.load !0
  %v8903 = getelementptr inbounds i8, ptr %v8902, i64 4112384
  %v8904 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8905 = load ptr, ptr %v8904, !invariant.load !0
  %v8906 = getelementptr inbounds i8, ptr %v8905, i64 3145728
  %v8907 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8908 = load ptr, ptr %v8907, !invariant.load !0
  %v8909 = getelementptr inbounds i8, ptr %v8908, i64 1802240
  %v8910 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8911 = load ptr, ptr %v8910, !invariant.load !0
  %v8912 = getelementptr inbounds i8, ptr %v8911, i64 5439488
  %v8913 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8914 = load ptr, ptr %v8913, !invariant.load !0
  %v8915 = getelementptr inbounds i8, ptr %v8914, i64 5505024
  %v8916 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8917 = load ptr, ptr %v8916, !invariant.load !0
  %v8918 = getelementptr inbounds i8, ptr %v8917, i64 5619712
  %v8919 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8920 = load ptr, ptr %v8919, !invariant.load !0
  %v8921 = getelementptr inbounds i8, ptr %v8920, i64 5636096
  call void @subtract_multiply_tanh_minimum_fusion_2(ptr %v8879, ptr %v8882, ptr %v8885, ptr %v8888, ptr %v8891, ptr %v8894, ptr %v8897, ptr %v8900, ptr %v8903, ptr %v8906, ptr %v8909, ptr %v8912, ptr %v8915, ptr %v8918, ptr %v8921)
  %v8922 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8923 = load ptr, ptr %v8922, !invariant.load !0
  %v8924 = getelementptr inbounds i8, ptr %v8923, i64 2998272
  %v8925 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8926 = load ptr, ptr %v8925, !invariant.load !0
  %v8927 = getelementptr inbounds i8, ptr %v8926, i64 868352
  %v8928 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8929 = load ptr, ptr %v8928, !invariant.load !0
  %v8930 = getelementptr inbounds i8, ptr %v8929, i64 5308416
  %v8931 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8932 = load ptr, ptr %v8931, !invariant.load !0
  %v8933 = getelementptr inbounds i8, ptr %v8932, i64 3342336
  %v8934 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8935 = load ptr, ptr %v8934, !invariant.load !0
  %v8936 = getelementptr inbounds i8, ptr %v8935, i64 5636096
  %v8937 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8938 = load ptr, ptr %v8937, !invariant.load !0
  %v8939 = getelementptr inbounds i8, ptr %v8938, i64 2424832
  %v8940 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8941 = load ptr, ptr %v8940, !invariant.load !0
  %v8942 = getelementptr inbounds i8, ptr %v8941, i64 5390336
  %v8943 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8944 = load ptr, ptr %v8943, !invariant.load !0
  %v8945 = getelementptr inbounds i8, ptr %v8944, i64 3424256
  %v8946 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8947 = load ptr, ptr %v8946, !invariant.load !0
  %v8948 = getelementptr inbounds i8, ptr %v8947, i64 1228800
  %v8949 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8950 = load ptr, ptr %v8949, !invariant.load !0
  %v8951 = getelementptr inbounds i8, ptr %v8950, i64 5750784
  %v8952 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8953 = load ptr, ptr %v8952, !invariant.load !0
  %v8954 = getelementptr inbounds i8, ptr %v8953, i64 5767168
  %v8955 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8956 = load ptr, ptr %v8955, !invariant.load !0
  %v8957 = getelementptr inbounds i8, ptr %v8956, i64 5783552
  %v8958 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8959 = load ptr, ptr %v8958, !invariant.load !0
  %v8960 = getelementptr inbounds i8, ptr %v8959, i64 5947392
  %v8961 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8962 = load ptr, ptr %v8961, !invariant.load !0
  %v8963 = getelementptr inbounds i8, ptr %v8962, i64 5963776
  %v8964 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8965 = load ptr, ptr %v8964, !invariant.load !0
  %v8966 = getelementptr inbounds i8, ptr %v8965, i64 5980160
  %v8967 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8968 = load ptr, ptr %v8967, !invariant.load !0
  %v8969 = getelementptr inbounds i8, ptr %v8968, i64 5996544
  %v8970 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8971 = load ptr, ptr %v8970, !invariant.load !0
  %v8972 = getelementptr inbounds i8, ptr %v8971, i64 6012928
  call void @multiply_tanh_minimum_subtract_fusion(ptr %v8924, ptr %v8927, ptr %v8930, ptr %v8933, ptr %v8936, ptr %v8939, ptr %v8942, ptr %v8945, ptr %v8948, ptr %v8951, ptr %v8954, ptr %v8957, ptr %v8960, ptr %v8963, ptr %v8966, ptr %v8969, ptr %v8972)
  %v8973 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8974 = load ptr, ptr %v8973, !invariant.load !0
  %v8975 = getelementptr inbounds i8, ptr %v8974, i64 4784128
  %v8976 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8977 = load ptr, ptr %v8976, !invariant.load !0
  %v8978 = getelementptr inbounds i8, ptr %v8977, i64 5931008
  %v8979 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8980 = load ptr, ptr %v8979, !invariant.load !0
  %v8981 = getelementptr inbounds i8, ptr %v8980, i64 3375104
  %v8982 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8983 = load ptr, ptr %v8982, !invariant.load !0
  %v8984 = getelementptr inbounds i8, ptr %v8983, i64 507904
  %v8985 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8986 = load ptr, ptr %v8985, !invariant.load !0
  %v8987 = getelementptr inbounds i8, ptr %v8986, i64 6654208
  %v8988 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8989 = load ptr, ptr %v8988, !invariant.load !0
  %v8990 = getelementptr inbounds i8, ptr %v8989, i64 2785280
  %v8991 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8992 = load ptr, ptr %v8991, !invariant.load !0
  %v8993 = getelementptr inbounds i8, ptr %v8992, i64 5947392
  %v8994 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8995 = load ptr, ptr %v8994, !invariant.load !0
  %v8996 = getelementptr inbounds i8, ptr %v8995, i64 3915776
  %v8997 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v8998 = load ptr, ptr %v8997, !invariant.load !0
  %v8999 = getelementptr inbounds i8, ptr %v8998, i64 1032192
  %v9000 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9001 = load ptr, ptr %v9000, !invariant.load !0
  %v9002 = getelementptr inbounds i8, ptr %v9001, i64 4685824
  %v9003 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9004 = load ptr, ptr %v9003, !invariant.load !0
  %v9005 = getelementptr inbounds i8, ptr %v9004, i64 6029312
  %v9006 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9007 = load ptr, ptr %v9006, !invariant.load !0
  %v9008 = getelementptr inbounds i8, ptr %v9007, i64 6045696
  %v9009 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9010 = load ptr, ptr %v9009, !invariant.load !0
  %v9011 = getelementptr inbounds i8, ptr %v9010, i64 6062080
  %v9012 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9013 = load ptr, ptr %v9012, !invariant.load !0
  %v9014 = getelementptr inbounds i8, ptr %v9013, i64 6078464
  %v9015 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9016 = load ptr, ptr %v9015, !invariant.load !0
  %v9017 = getelementptr inbounds i8, ptr %v9016, i64 6094848
  call void @subtract_tanh_multiply_fusion(ptr %v8975, ptr %v8978, ptr %v8981, ptr %v8984, ptr %v8987, ptr %v8990, ptr %v8993, ptr %v8996, ptr %v8999, ptr %v9002, ptr %v9005, ptr %v9008, ptr %v9011, ptr %v9014, ptr %v9017)
  %v9018 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9019 = load ptr, ptr %v9018, !invariant.load !0
  %v9020 = getelementptr inbounds i8, ptr %v9019, i64 311296
  %v9021 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9022 = load ptr, ptr %v9021, !invariant.load !0
  %v9023 = getelementptr inbounds i8, ptr %v9022, i64 638976
  %v9024 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9025 = load ptr, ptr %v9024, !invariant.load !0
  %v9026 = getelementptr inbounds i8, ptr %v9025, i64 196608
  %v9027 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9028 = load ptr, ptr %v9027, !invariant.load !0
  %v9029 = getelementptr inbounds i8, ptr %v9028, i64 1687552
  %v9030 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9031 = load ptr, ptr %v9030, !invariant.load !0
  %v9032 = getelementptr inbounds i8, ptr %v9031, i64 5718016
  %v9033 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9034 = load ptr, ptr %v9033, !invariant.load !0
  %v9035 = getelementptr inbounds i8, ptr %v9034, i64 2588672
  %v9036 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9037 = load ptr, ptr %v9036, !invariant.load !0
  %v9038 = getelementptr inbounds i8, ptr %v9037, i64 6094848
  %v9039 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9040 = load ptr, ptr %v9039, !invariant.load !0
  %v9041 = getelementptr inbounds i8, ptr %v9040, i64 4898816
  %v9042 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9043 = load ptr, ptr %v9042, !invariant.load !0
  %v9044 = getelementptr inbounds i8, ptr %v9043, i64 5013504
  %v9045 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9046 = load ptr, ptr %v9045, !invariant.load !0
  %v9047 = getelementptr inbounds i8, ptr %v9046, i64 3031040
  %v9048 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9049 = load ptr, ptr %v9048, !invariant.load !0
  %v9050 = getelementptr inbounds i8, ptr %v9049, i64 5275648
  %v9051 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9052 = load ptr, ptr %v9051, !invariant.load !0
  %v9053 = getelementptr inbounds i8, ptr %v9052, i64 5259264
  %v9054 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9055 = load ptr, ptr %v9054, !invariant.load !0
  %v9056 = getelementptr inbounds i8, ptr %v9055, i64 6111232
  %v9057 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9058 = load ptr, ptr %v9057, !invariant.load !0
  %v9059 = getelementptr inbounds i8, ptr %v9058, i64 6127616
  %v9060 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9061 = load ptr, ptr %v9060, !invariant.load !0
  %v9062 = getelementptr inbounds i8, ptr %v9061, i64 6144000
  %v9063 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9064 = load ptr, ptr %v9063, !invariant.load !0
  %v9065 = getelementptr inbounds i8, ptr %v9064, i64 6160384
  call void @maximum_add_subtract_minimum_fusion(ptr %v9020, ptr %v9023, ptr %v9026, ptr %v9029, ptr %v9032, ptr %v9035, ptr %v9038, ptr %v9041, ptr %v9044, ptr %v9047, ptr %v9050, ptr %v9053, ptr %v9056, ptr %v9059, ptr %v9062, ptr %v9065)
  %v9066 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9067 = load ptr, ptr %v9066, !invariant.load !0
  %v9068 = getelementptr inbounds i8, ptr %v9067, i64 180224
  %v9069 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9070 = load ptr, ptr %v9069, !invariant.load !0
  %v9071 = getelementptr inbounds i8, ptr %v9070, i64 376832
  %v9072 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9073 = load ptr, ptr %v9072, !invariant.load !0
  %v9074 = getelementptr inbounds i8, ptr %v9073, i64 2998272
  %v9075 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9076 = load ptr, ptr %v9075, !invariant.load !0
  %v9077 = getelementptr inbounds i8, ptr %v9076, i64 1753088
  %v9078 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9079 = load ptr, ptr %v9078, !invariant.load !0
  %v9080 = getelementptr inbounds i8, ptr %v9079, i64 2031616
  %v9081 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9082 = load ptr, ptr %v9081, !invariant.load !0
  %v9083 = getelementptr inbounds i8, ptr %v9082, i64 917504
  %v9084 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9085 = load ptr, ptr %v9084, !invariant.load !0
  %v9086 = getelementptr inbounds i8, ptr %v9085, i64 1474560
  %v9087 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9088 = load ptr, ptr %v9087, !invariant.load !0
  %v9089 = getelementptr inbounds i8, ptr %v9088, i64 2555904
  %v9090 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9091 = load ptr, ptr %v9090, !invariant.load !0
  %v9092 = getelementptr inbounds i8, ptr %v9091, i64 2490368
  %v9093 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9094 = load ptr, ptr %v9093, !invariant.load !0
  %v9095 = getelementptr inbounds i8, ptr %v9094, i64 1818624
  %v9096 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9097 = load ptr, ptr %v9096, !invariant.load !0
  %v9098 = getelementptr inbounds i8, ptr %v9097, i64 753664
  %v9099 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9100 = load ptr, ptr %v9099, !invariant.load !0
  %v9101 = getelementptr inbounds i8, ptr %v9100, i64 6176768
  %v9102 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9103 = load ptr, ptr %v9102, !invariant.load !0
  %v9104 = getelementptr inbounds i8, ptr %v9103, i64 6193152
  %v9105 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9106 = load ptr, ptr %v9105, !invariant.load !0
  %v9107 = getelementptr inbounds i8, ptr %v9106, i64 6209536
  %v9108 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9109 = load ptr, ptr %v9108, !invariant.load !0
  %v9110 = getelementptr inbounds i8, ptr %v9109, i64 6225920
  %v9111 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v9112 = load ptr, ptr %v9111, !invariant.load !0
  %v9113 = getelementptr inbounds i8, ptr %v9112, i64 6242304
  call void @minimum_add_subtract_multiply_fusion(ptr %v9068, ptr %v9071, ptr %v9074, ptr %v9077, ptr %v9080, ptr %v9083, ptr %v9086, ptr %v9089, ptr %v9092, ptr %v9095, ptr %v9098, ptr %v9101, ptr %v9104, ptr %v9107, ptr %v9110, ptr %v9113)
  ret i32 0
}

define hidden i32 @xe_entry_part12(ptr noalias %arguments) nounwind optnone noinline "optimization-level"="final" {
entry:
  %slot12074 = alloca ptr, i64 61, align 64
  %slot12339 = alloca ptr, i64 64, align 64
  %slot12580 = alloca ptr, i64 29, align 64
  %v11804 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11805 = load ptr, ptr %v11804, !invariant.load !0
  %v11806 = getelementptr inbounds i8, ptr %v11805, i64 6504448
  %v11807 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11808 = load ptr, ptr %v11807, !invariant.load !0
  %v11809 = getelementptr inbounds i8, ptr %v11808, i64 1441792
  %v11810 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11811 = load ptr, ptr %v11810, !invariant.load !0
  %v11812 = getelementptr inbounds i8, ptr %v11811, i64 393216
  %v11813 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11814 = load ptr, ptr %v11813, !invariant.load !0
  %v11815 = getelementptr inbounds i8, ptr %v11814, i64 1916928
  %v11816 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11817 = load ptr, ptr %v11816, !invariant.load !0
  %v11818 = getelementptr inbounds i8, ptr %v11817, i64 180224
  %v11819 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11820 = load ptr, ptr %v11819, !invariant.load !0
  %v11821 = getelementptr inbounds i8, ptr %v11820, i64 1212416
  %v11822 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11823 = load ptr, ptr %v11822, !invariant.load !0
  %v11824 = getelementptr inbounds i8, ptr %v11823, i64 2719744
  %v11825 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11826 = load ptr, ptr %v11825, !invariant.load !0
  %v11827 = getelementptr inbounds i8, ptr %v11826, i64 1245184
  %v11828 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11829 = load ptr, ptr %v11828, !invariant.load !0
  %v11830 = getelementptr inbounds i8, ptr %v11829, i64 2818048
  %v11831 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11832 = load ptr, ptr %v11831, !invariant.load !0
  %v11833 = getelementptr inbounds i8, ptr %v11832, i64 3588096
  %v11834 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11835 = load ptr, ptr %v11834, !invariant.load !0
  %v11836 = getelementptr inbounds i8, ptr %v11835, i64 3620864
  %v11837 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11838 = load ptr, ptr %v11837, !invariant.load !0
  %v11839 = getelementptr inbounds i8, ptr %v11838, i64 3637248
  %v11840 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11841 = load ptr, ptr %v11840, !invariant.load !0
  %v11842 = getelementptr inbounds i8, ptr %v11841, i64 3653632
  %v11843 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11844 = load ptr, ptr %v11843, !invariant.load !0
  %v11845 = getelementptr inbounds i8, ptr %v11844, i64 3670016
  %v11846 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11847 = load ptr, ptr %v11846, !invariant.load !0
  %v11848 = getelementptr inbounds i8, ptr %v11847, i64 3719168
  %v11849 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11850 = load ptr, ptr %v11849, !invariant.load !0
  %v11851 = getelementptr inbounds i8, ptr %v11850, i64 3735552
  %v11852 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11853 = load ptr, ptr %v11852, !invariant.load !0
  %v11854 = getelementptr inbounds i8, ptr %v11853, i64 3751936
  call void @multiply_minimum_tanh_add_fusion_2(ptr %v11806, ptr %v11809, ptr %v11812, ptr %v11815, ptr %v11818, ptr %v11821, ptr %v11824, ptr %v11827, ptr %v11830, ptr %v11833, ptr %v11836, ptr %v11839, ptr %v11842, ptr %v11845, ptr %v11848, ptr %v11851, ptr %v11854)
  %v11855 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11856 = load ptr, ptr %v11855, !invariant.load !0
  %v11857 = getelementptr inbounds i8, ptr %v11856, i64 1294336
  %v11858 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11859 = load ptr, ptr %v11858, !invariant.load !0
  %v11860 = getelementptr inbounds i8, ptr %v11859, i64 1638400
  %v11861 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11862 = load ptr, ptr %v11861, !invariant.load !0
  %v11863 = getelementptr inbounds i8, ptr %v11862, i64 2703360
  %v11864 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11865 = load ptr, ptr %v11864, !invariant.load !0
  %v11866 = getelementptr inbounds i8, ptr %v11865, i64 770048
  %v11867 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11868 = load ptr, ptr %v11867, !invariant.load !0
  %v11869 = getelementptr inbounds i8, ptr %v11868, i64 1261568
  %v11870 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11871 = load ptr, ptr %v11870, !invariant.load !0
  %v11872 = getelementptr inbounds i8, ptr %v11871, i64 3112960
  %v11873 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11874 = load ptr, ptr %v11873, !invariant.load !0
  %v11875 = getelementptr inbounds i8, ptr %v11874, i64 1703936
  %v11876 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11877 = load ptr, ptr %v11876, !invariant.load !0
  %v11878 = getelementptr inbounds i8, ptr %v11877, i64 2031616
  %v11879 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11880 = load ptr, ptr %v11879, !invariant.load !0
  %v11881 = getelementptr inbounds i8, ptr %v11880, i64 3735552
  %v11882 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11883 = load ptr, ptr %v11882, !invariant.load !0
  %v11884 = getelementptr inbounds i8, ptr %v11883, i64 3768320
  %v11885 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11886 = load ptr, ptr %v11885, !invariant.load !0
  %v11887 = getelementptr inbounds i8, ptr %v11886, i64 3784704
  %v11888 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11889 = load ptr, ptr %v11888, !invariant.load !0
  %v11890 = getelementptr inbounds i8, ptr %v11889, i64 3850240
  %v11891 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11892 = load ptr, ptr %v11891, !invariant.load !0
  %v11893 = getelementptr inbounds i8, ptr %v11892, i64 3883008
  call void @tanh_maximum_subtract_multiply_fusion_2(ptr %v11857, ptr %v11860, ptr %v11863, ptr %v11866, ptr %v11869, ptr %v11872, ptr %v11875, ptr %v11878, ptr %v11881, ptr %v11884, ptr %v11887, ptr %v11890, ptr %v11893)
  %v11894 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11895 = load ptr, ptr %v11894, !invariant.load !0
  %v11896 = getelementptr inbounds i8, ptr %v11895, i64 2424832
  %v11897 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11898 = load ptr, ptr %v11897, !invariant.load !0
  %v11899 = getelementptr inbounds i8, ptr %v11898, i64 2736128
  %v11900 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11901 = load ptr, ptr %v11900, !invariant.load !0
  %v11902 = getelementptr inbounds i8, ptr %v11901, i64 3178496
  %v11903 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11904 = load ptr, ptr %v11903, !invariant.load !0
  %v11905 = getelementptr inbounds i8, ptr %v11904, i64 1785856
  %v11906 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11907 = load ptr, ptr %v11906, !invariant.load !0
  %v11908 = getelementptr inbounds i8, ptr %v11907, i64 950272
  %v11909 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11910 = load ptr, ptr %v11909, !invariant.load !0
  %v11911 = getelementptr inbounds i8, ptr %v11910, i64 4800512
  %v11912 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11913 = load ptr, ptr %v11912, !invariant.load !0
  %v11914 = getelementptr inbounds i8, ptr %v11913, i64 1720320
  %v11915 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11916 = load ptr, ptr %v11915, !invariant.load !0
  %v11917 = getelementptr inbounds i8, ptr %v11916, i64 5570560
  %v11918 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11919 = load ptr, ptr %v11918, !invariant.load !0
  %v11920 = getelementptr inbounds i8, ptr %v11919, i64 212992
  %v11921 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11922 = load ptr, ptr %v11921, !invariant.load !0
  %v11923 = getelementptr inbounds i8, ptr %v11922, i64 3866624
  %v11924 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11925 = load ptr, ptr %v11924, !invariant.load !0
  %v11926 = getelementptr inbounds i8, ptr %v11925, i64 4259840
  %v11927 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11928 = load ptr, ptr %v11927, !invariant.load !0
  %v11929 = getelementptr inbounds i8, ptr %v11928, i64 3457024
  %v11930 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11931 = load ptr, ptr %v11930, !invariant.load !0
  %v11932 = getelementptr inbounds i8, ptr %v11931, i64 360448
  %v11933 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11934 = load ptr, ptr %v11933, !invariant.load !0
  %v11935 = getelementptr inbounds i8, ptr %v11934, i64 1835008
  %v11936 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11937 = load ptr, ptr %v11936, !invariant.load !0
  %v11938 = getelementptr inbounds i8, ptr %v11937, i64 4161536
  %v11939 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11940 = load ptr, ptr %v11939, !invariant.load !0
  %v11941 = getelementptr inbounds i8, ptr %v11940, i64 540672
  %v11942 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11943 = load ptr, ptr %v11942, !invariant.load !0
  %v11944 = getelementptr inbounds i8, ptr %v11943, i64 3194880
  %v11945 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11946 = load ptr, ptr %v11945, !invariant.load !0
  %v11947 = getelementptr inbounds i8, ptr %v11946, i64 3538944
  %v11948 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11949 = load ptr, ptr %v11948, !invariant.load !0
  %v11950 = getelementptr inbounds i8, ptr %v11949, i64 999424
  %v11951 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11952 = load ptr, ptr %v11951, !invariant.load !0
  %v11953 = getelementptr inbounds i8, ptr %v11952, i64 2899968
  %v11954 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11955 = load ptr, ptr %v11954, !invariant.load !0
  %v11956 = getelementptr inbounds i8, ptr %v11955, i64 2670592
  %v11957 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11958 = load ptr, ptr %v11957, !invariant.load !0
  %v11959 = getelementptr inbounds i8, ptr %v11958, i64 5029888
  %v11960 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11961 = load ptr, ptr %v11960, !invariant.load !0
  %v11962 = getelementptr inbounds i8, ptr %v11961, i64 4685824
  %v11963 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11964 = load ptr, ptr %v11963, !invariant.load !0
  %v11965 = getelementptr inbounds i8, ptr %v11964, i64 5718016
  %v11966 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11967 = load ptr, ptr %v11966, !invariant.load !0
  %v11968 = getelementptr inbounds i8, ptr %v11967, i64 3982080
  %v11969 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11970 = load ptr, ptr %v11969, !invariant.load !0
  %v11971 = getelementptr inbounds i8, ptr %v11970, i64 4308992
  %v11972 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11973 = load ptr, ptr %v11972, !invariant.load !0
  %v11974 = getelementptr inbounds i8, ptr %v11973, i64 5914624
  %v11975 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11976 = load ptr, ptr %v11975, !invariant.load !0
  %v11977 = getelementptr inbounds i8, ptr %v11976, i64 65536
  %v11978 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11979 = load ptr, ptr %v11978, !invariant.load !0
  %v11980 = getelementptr inbounds i8, ptr %v11979, i64 3997696
  %v11981 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11982 = load ptr, ptr %v11981, !invariant.load !0
  %v11983 = getelementptr inbounds i8, ptr %v11982, i64 4210688
  %v11984 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11985 = load ptr, ptr %v11984, !invariant.load !0
  %v11986 = getelementptr inbounds i8, ptr %v11985, i64 3375104
  %v11987 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11988 = load ptr, ptr %v11987, !invariant.load !0
  %v11989 = getelementptr inbounds i8, ptr %v11988, i64 4456448
  %v11990 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11991 = load ptr, ptr %v11990, !invariant.load !0
  %v11992 = getelementptr inbounds i8, ptr %v11991, i64 786432
  %v11993 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11994 = load ptr, ptr %v11993, !invariant.load !0
  %v11995 = getelementptr inbounds i8, ptr %v11994, i64 1294336
  %v11996 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v11997 = load ptr, ptr %v11996, !invariant.load !0
  %v11998 = getelementptr inbounds i8, ptr %v11997, i64 311296
  %v11999 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12000 = load ptr, ptr %v11999, !invariant.load !0
  %v12001 = getelementptr inbounds i8, ptr %v12000, i64 573440
  %v12002 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12003 = load ptr, ptr %v12002, !invariant.load !0
  %v12004 = getelementptr inbounds i8, ptr %v12003, i64 3604480
  %v12005 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12006 = load ptr, ptr %v12005, !invariant.load !0
  %v12007 = getelementptr inbounds i8, ptr %v12006, i64 4538368
  %v12008 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12009 = load ptr, ptr %v12008, !invariant.load !0
  %v12010 = getelementptr inbounds i8, ptr %v12009, i64 5947392
  %v12011 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12012 = load ptr, ptr %v12011, !invariant.load !0
  %v12013 = getelementptr inbounds i8, ptr %v12012, i64 5455872
  %v12014 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12015 = load ptr, ptr %v12014, !invariant.load !0
  %v12016 = getelementptr inbounds i8, ptr %v12015, i64 1032192
  %v12017 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12018 = load ptr, ptr %v12017, !invariant.load !0
  %v12019 = getelementptr inbounds i8, ptr %v12018, i64 2932736
  %v12020 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12021 = load ptr, ptr %v12020, !invariant.load !0
  %v12022 = getelementptr inbounds i8, ptr %v12021, i64 4734976
  %v12023 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12024 = load ptr, ptr %v12023, !invariant.load !0
  %v12025 = getelementptr inbounds i8, ptr %v12024, i64 5406720
  %v12026 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12027 = load ptr, ptr %v12026, !invariant.load !0
  %v12028 = getelementptr inbounds i8, ptr %v12027, i64 3981824
  %v12029 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12030 = load ptr, ptr %v12029, !invariant.load !0
  %v12031 = getelementptr inbounds i8, ptr %v12030, i64 2981888
  %v12032 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12033 = load ptr, ptr %v12032, !invariant.load !0
  %v12034 = getelementptr inbounds i8, ptr %v12033, i64 3833856
  %v12035 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12036 = load ptr, ptr %v12035, !invariant.load !0
  %v12037 = getelementptr inbounds i8, ptr %v12036, i64 1966080
  %v12038 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12039 = load ptr, ptr %v12038, !invariant.load !0
  %v12040 = getelementptr inbounds i8, ptr %v12039, i64 3407872
  %v12041 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12042 = load ptr, ptr %v12041, !invariant.load !0
  %v12043 = getelementptr inbounds i8, ptr %v12042, i64 344064
  %v12044 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12045 = load ptr, ptr %v12044, !invariant.load !0
  %v12046 = getelementptr inbounds i8, ptr %v12045, i64 983040
  %v12047 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12048 = load ptr, ptr %v12047, !invariant.load !0
  %v12049 = getelementptr inbounds i8, ptr %v12048, i64 2097152
  %v12050 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12051 = load ptr, ptr %v12050, !invariant.load !0
  %v12052 = getelementptr inbounds i8, ptr %v12051, i64 3424256
  %v12053 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12054 = load ptr, ptr %v12053, !invariant.load !0
  %v12055 = getelementptr inbounds i8, ptr %v12054, i64 1015808
  %v12056 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12057 = load ptr, ptr %v12056, !invariant.load !0
  %v12058 = getelementptr inbounds i8, ptr %v12057, i64 1048576
  %v12059 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12060 = load ptr, ptr %v12059, !invariant.load !0
  %v12061 = getelementptr inbounds i8, ptr %v12060, i64 3391488
  %v12062 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12063 = load ptr, ptr %v12062, !invariant.load !0
  %v12064 = getelementptr inbounds i8, ptr %v12063, i64 4358144
  %v12065 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12066 = load ptr, ptr %v12065, !invariant.load !0
  %v12067 = getelementptr inbounds i8, ptr %v12066, i64 2490368
  %v12068 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12069 = load ptr, ptr %v12068, !invariant.load !0
  %v12070 = getelementptr inbounds i8, ptr %v12069, i64 6654464
  %v12071 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12072 = load ptr, ptr %v12071, !invariant.load !0
  %v12073 = getelementptr inbounds i8, ptr %v12072, i64 2048000
  %v12075 = getelementptr inbounds ptr, ptr %slot12074, i64 0
  store ptr %v11896, ptr %v12075, align 8
  %v12076 = getelementptr inbounds ptr, ptr %slot12074, i64 1
  store ptr %v11899, ptr %v12076, align 8
  %v12077 = getelementptr inbounds ptr, ptr %slot12074, i64 2
  store ptr %v11902, ptr %v12077, align 8
  %v12078 = getelementptr inbounds ptr, ptr %slot12074, i64 3
  store ptr %v11905, ptr %v12078, align 8
  %v12079 = getelementptr inbounds ptr, ptr %slot12074, i64 4
  store ptr %v11908, ptr %v12079, align 8
  %v12080 = getelementptr inbounds ptr, ptr %slot12074, i64 5
  store ptr %v11911, ptr %v12080, align 8
  %v12081 = getelementptr inbounds ptr, ptr %slot12074, i64 6
  store ptr %v11914, ptr %v12081, align 8
  %v12082 = getelementptr inbounds ptr, ptr %slot12074, i64 7
  store ptr %v11917, ptr %v12082, align 8
  %v12083 = getelementptr inbounds ptr, ptr %slot12074, i64 8
  store ptr %v11920, ptr %v12083, align 8
  %v12084 = getelementptr inbounds ptr, ptr %slot12074, i64 9
  store ptr %v11923, ptr %v12084, align 8
  %v12085 = getelementptr inbounds ptr, ptr %slot12074, i64 10
  store ptr %v11926, ptr %v12085, align 8
  %v12086 = getelementptr inbounds ptr, ptr %slot12074, i64 11
  store ptr %v11929, ptr %v12086, align 8
  %v12087 = getelementptr inbounds ptr, ptr %slot12074, i64 12
  store ptr %v11932, ptr %v12087, align 8
  %v12088 = getelementptr inbounds ptr, ptr %slot12074, i64 13
  store ptr %v11935, ptr %v12088, align 8
  %v12089 = getelementptr inbounds ptr, ptr %slot12074, i64 14
  store ptr %v11938, ptr %v12089, align 8
  %v12090 = getelementptr inbounds ptr, ptr %slot12074, i64 15
  store ptr %v11941, ptr %v12090, align 8
  %v12091 = getelementptr inbounds ptr, ptr %slot12074, i64 16
  store ptr %v11944, ptr %v12091, align 8
  %v12092 = getelementptr inbounds ptr, ptr %slot12074, i64 17
  store ptr %v11947, ptr %v12092, align 8
  %v12093 = getelementptr inbounds ptr, ptr %slot12074, i64 18
  store ptr %v11950, ptr %v12093, align 8
  %v12094 = getelementptr inbounds ptr, ptr %slot12074, i64 19
  store ptr %v11953, ptr %v12094, align 8
  %v12095 = getelementptr inbounds ptr, ptr %slot12074, i64 20
  store ptr %v11956, ptr %v12095, align 8
  %v12096 = getelementptr inbounds ptr, ptr %slot12074, i64 21
  store ptr %v11959, ptr %v12096, align 8
  %v12097 = getelementptr inbounds ptr, ptr %slot12074, i64 22
  store ptr %v11962, ptr %v12097, align 8
  %v12098 = getelementptr inbounds ptr, ptr %slot12074, i64 23
  store ptr %v11965, ptr %v12098, align 8
  %v12099 = getelementptr inbounds ptr, ptr %slot12074, i64 24
  store ptr %v11968, ptr %v12099, align 8
  %v12100 = getelementptr inbounds ptr, ptr %slot12074, i64 25
  store ptr %v11971, ptr %v12100, align 8
  %v12101 = getelementptr inbounds ptr, ptr %slot12074, i64 26
  store ptr %v11974, ptr %v12101, align 8
  %v12102 = getelementptr inbounds ptr, ptr %slot12074, i64 27
  store ptr %v11977, ptr %v12102, align 8
  %v12103 = getelementptr inbounds ptr, ptr %slot12074, i64 28
  store ptr %v11980, ptr %v12103, align 8
  %v12104 = getelementptr inbounds ptr, ptr %slot12074, i64 29
  store ptr %v11983, ptr %v12104, align 8
  %v12105 = getelementptr inbounds ptr, ptr %slot12074, i64 30
  store ptr %v11986, ptr %v12105, align 8
  %v12106 = getelementptr inbounds ptr, ptr %slot12074, i64 31
  store ptr %v11989, ptr %v12106, align 8
  %v12107 = getelementptr inbounds ptr, ptr %slot12074, i64 32
  store ptr %v11992, ptr %v12107, align 8
  %v12108 = getelementptr inbounds ptr, ptr %slot12074, i64 33
  store ptr %v11995, ptr %v12108, align 8
  %v12109 = getelementptr inbounds ptr, ptr %slot12074, i64 34
  store ptr %v11998, ptr %v12109, align 8
  %v12110 = getelementptr inbounds ptr, ptr %slot12074, i64 35
  store ptr %v12001, ptr %v12110, align 8
  %v12111 = getelementptr inbounds ptr, ptr %slot12074, i64 36
  store ptr %v12004, ptr %v12111, align 8
  %v12112 = getelementptr inbounds ptr, ptr %slot12074, i64 37
  store ptr %v12007, ptr %v12112, align 8
  %v12113 = getelementptr inbounds ptr, ptr %slot12074, i64 38
  store ptr %v12010, ptr %v12113, align 8
  %v12114 = getelementptr inbounds ptr, ptr %slot12074, i64 39
  store ptr %v12013, ptr %v12114, align 8
  %v12115 = getelementptr inbounds ptr, ptr %slot12074, i64 40
  store ptr %v12016, ptr %v12115, align 8
  %v12116 = getelementptr inbounds ptr, ptr %slot12074, i64 41
  store ptr %v12019, ptr %v12116, align 8
  %v12117 = getelementptr inbounds ptr, ptr %slot12074, i64 42
  store ptr %v12022, ptr %v12117, align 8
  %v12118 = getelementptr inbounds ptr, ptr %slot12074, i64 43
  store ptr %v12025, ptr %v12118, align 8
  %v12119 = getelementptr inbounds ptr, ptr %slot12074, i64 44
  store ptr %v12028, ptr %v12119, align 8
  %v12120 = getelementptr inbounds ptr, ptr %slot12074, i64 45
  store ptr %v12031, ptr %v12120, align 8
  %v12121 = getelementptr inbounds ptr, ptr %slot12074, i64 46
  store ptr %v12034, ptr %v12121, align 8
  %v12122 = getelementptr inbounds ptr, ptr %slot12074, i64 47
  store ptr %v12037, ptr %v12122, align 8
  %v12123 = getelementptr inbounds ptr, ptr %slot12074, i64 48
  store ptr %v12040, ptr %v12123, align 8
  %v12124 = getelementptr inbounds ptr, ptr %slot12074, i64 49
  store ptr %v12043, ptr %v12124, align 8
  %v12125 = getelementptr inbounds ptr, ptr %slot12074, i64 50
  store ptr %v12046, ptr %v12125, align 8
  %v12126 = getelementptr inbounds ptr, ptr %slot12074, i64 51
  store ptr %v12049, ptr %v12126, align 8
  %v12127 = getelementptr inbounds ptr, ptr %slot12074, i64 52
  store ptr %v12052, ptr %v12127, align 8
  %v12128 = getelementptr inbounds ptr, ptr %slot12074, i64 53
  store ptr %v12055, ptr %v12128, align 8
  %v12129 = getelementptr inbounds ptr, ptr %slot12074, i64 54
  store ptr %v12058, ptr %v12129, align 8
  %v12130 = getelementptr inbounds ptr, ptr %slot12074, i64 55
  store ptr %v12061, ptr %v12130, align 8
  %v12131 = getelementptr inbounds ptr, ptr %slot12074, i64 56
  store ptr %v12064, ptr %v12131, align 8
  %v12132 = getelementptr inbounds ptr, ptr %slot12074, i64 57
  store ptr %v12067, ptr %v12132, align 8
  %v12133 = getelementptr inbounds ptr, ptr %slot12074, i64 58
  store ptr %v12070, ptr %v12133, align 8
  %v12134 = getelementptr inbounds ptr, ptr %slot12074, i64 59
  store ptr %v12073, ptr %v12134, align 8
  call void @xla_explorer_parallel_for(ptr @tanh_maximum_add_fusion_task, ptr %slot12074, i64 4)
  %v12135 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12136 = load ptr, ptr %v12135, !invariant.load !0
  %v12137 = getelementptr inbounds i8, ptr %v12136, i64 4866048
  %v12138 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12139 = load ptr, ptr %v12138, !invariant.load !0
  %v12140 = getelementptr inbounds i8, ptr %v12139, i64 65536
  call void @reduce_fusion_110(ptr %v12137, ptr %v12140)
  %v12141 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12142 = load ptr, ptr %v12141, !invariant.load !0
  %v12143 = getelementptr inbounds i8, ptr %v12142, i64 65536
  call void @wrapped_tanh_540(ptr %v12143)
  %v12144 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12145 = load ptr, ptr %v12144, !invariant.load !0
  %v12146 = getelementptr inbounds i8, ptr %v12145, i64 4915200
  %v12147 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12148 = load ptr, ptr %v12147, !invariant.load !0
  %v12149 = getelementptr inbounds i8, ptr %v12148, i64 65792
  call void @wrapped_tanh_533(ptr %v12146, ptr %v12149)
  %v12150 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12151 = load ptr, ptr %v12150, !invariant.load !0
  %v12152 = getelementptr inbounds i8, ptr %v12151, i64 2424832
  %v12153 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12154 = load ptr, ptr %v12153, !invariant.load !0
  %v12155 = getelementptr inbounds i8, ptr %v12154, i64 3899392
  %v12156 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12157 = load ptr, ptr %v12156, !invariant.load !0
  %v12158 = getelementptr inbounds i8, ptr %v12157, i64 458752
  %v12159 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12160 = load ptr, ptr %v12159, !invariant.load !0
  %v12161 = getelementptr inbounds i8, ptr %v12160, i64 5505024
  %v12162 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12163 = load ptr, ptr %v12162, !invariant.load !0
  %v12164 = getelementptr inbounds i8, ptr %v12163, i64 557056
  %v12165 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12166 = load ptr, ptr %v12165, !invariant.load !0
  %v12167 = getelementptr inbounds i8, ptr %v12166, i64 3981312
  %v12168 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12169 = load ptr, ptr %v12168, !invariant.load !0
  %v12170 = getelementptr inbounds i8, ptr %v12169, i64 6144000
  %v12171 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12172 = load ptr, ptr %v12171, !invariant.load !0
  %v12173 = getelementptr inbounds i8, ptr %v12172, i64 6225920
  %v12174 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12175 = load ptr, ptr %v12174, !invariant.load !0
  %v12176 = getelementptr inbounds i8, ptr %v12175, i64 147456
  %v12177 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12178 = load ptr, ptr %v12177, !invariant.load !0
  %v12179 = getelementptr inbounds i8, ptr %v12178, i64 4816896
  %v12180 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12181 = load ptr, ptr %v12180, !invariant.load !0
  %v12182 = getelementptr inbounds i8, ptr %v12181, i64 3833856
  %v12183 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12184 = load ptr, ptr %v12183, !invariant.load !0
  %v12185 = getelementptr inbounds i8, ptr %v12184, i64 507904
  %v12186 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12187 = load ptr, ptr %v12186, !invariant.load !0
  %v12188 = getelementptr inbounds i8, ptr %v12187, i64 3178496
  %v12189 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12190 = load ptr, ptr %v12189, !invariant.load !0
  %v12191 = getelementptr inbounds i8, ptr %v12190, i64 3915776
  %v12192 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12193 = load ptr, ptr %v12192, !invariant.load !0
  %v12194 = getelementptr inbounds i8, ptr %v12193, i64 3686400
  %v12195 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12196 = load ptr, ptr %v12195, !invariant.load !0
  %v12197 = getelementptr inbounds i8, ptr %v12196, i64 5816320
  %v12198 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12199 = load ptr, ptr %v12198, !invariant.load !0
  %v12200 = getelementptr inbounds i8, ptr %v12199, i64 3194880
  %v12201 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12202 = load ptr, ptr %v12201, !invariant.load !0
  %v12203 = getelementptr inbounds i8, ptr %v12202, i64 5193728
  %v12204 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12205 = load ptr, ptr %v12204, !invariant.load !0
  %v12206 = getelementptr inbounds i8, ptr %v12205, i64 65536
  %v12207 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12208 = load ptr, ptr %v12207, !invariant.load !0
  %v12209 = getelementptr inbounds i8, ptr %v12208, i64 1654784
  %v12210 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12211 = load ptr, ptr %v12210, !invariant.load !0
  %v12212 = getelementptr inbounds i8, ptr %v12211, i64 3702784
  %v12213 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12214 = load ptr, ptr %v12213, !invariant.load !0
  %v12215 = getelementptr inbounds i8, ptr %v12214, i64 4210688
  %v12216 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12217 = load ptr, ptr %v12216, !invariant.load !0
  %v12218 = getelementptr inbounds i8, ptr %v12217, i64 1114112
  %v12219 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12220 = load ptr, ptr %v12219, !invariant.load !0
  %v12221 = getelementptr inbounds i8, ptr %v12220, i64 720896
  %v12222 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12223 = load ptr, ptr %v12222, !invariant.load !0
  %v12224 = getelementptr inbounds i8, ptr %v12223, i64 4669440
  %v12225 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12226 = load ptr, ptr %v12225, !invariant.load !0
  %v12227 = getelementptr inbounds i8, ptr %v12226, i64 3342336
  %v12228 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12229 = load ptr, ptr %v12228, !invariant.load !0
  %v12230 = getelementptr inbounds i8, ptr %v12229, i64 2834432
  %v12231 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12232 = load ptr, ptr %v12231, !invariant.load !0
  %v12233 = getelementptr inbounds i8, ptr %v12232, i64 65792
  %v12234 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12235 = load ptr, ptr %v12234, !invariant.load !0
  %v12236 = getelementptr inbounds i8, ptr %v12235, i64 5095424
  %v12237 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12238 = load ptr, ptr %v12237, !invariant.load !0
  %v12239 = getelementptr inbounds i8, ptr %v12238, i64 4718592
  %v12240 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12241 = load ptr, ptr %v12240, !invariant.load !0
  %v12242 = getelementptr inbounds i8, ptr %v12241, i64 524288
  %v12243 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12244 = load ptr, ptr %v12243, !invariant.load !0
  %v12245 = getelementptr inbounds i8, ptr %v12244, i64 6242304
  %v12246 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12247 = load ptr, ptr %v12246, !invariant.load !0
  %v12248 = getelementptr inbounds i8, ptr %v12247, i64 6340608
  %v12249 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12250 = load ptr, ptr %v12249, !invariant.load !0
  %v12251 = getelementptr inbounds i8, ptr %v12250, i64 5324800
  %v12252 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12253 = load ptr, ptr %v12252, !invariant.load !0
  %v12254 = getelementptr inbounds i8, ptr %v12253, i64 1605632
  %v12255 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12256 = load ptr, ptr %v12255, !invariant.load !0
  %v12257 = getelementptr inbounds i8, ptr %v12256, i64 5226496
  %v12258 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12259 = load ptr, ptr %v12258, !invariant.load !0
  %v12260 = getelementptr inbounds i8, ptr %v12259, i64 5439488
  %v12261 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12262 = load ptr, ptr %v12261, !invariant.load !0
  %v12263 = getelementptr inbounds i8, ptr %v12262, i64 4128768
  %v12264 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12265 = load ptr, ptr %v12264, !invariant.load !0
  %v12266 = getelementptr inbounds i8, ptr %v12265, i64 4833280
  %v12267 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12268 = load ptr, ptr %v12267, !invariant.load !0
  %v12269 = getelementptr inbounds i8, ptr %v12268, i64 3227648
  %v12270 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12271 = load ptr, ptr %v12270, !invariant.load !0
  %v12272 = getelementptr inbounds i8, ptr %v12271, i64 4636672
  %v12273 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12274 = load ptr, ptr %v12273, !invariant.load !0
  %v12275 = getelementptr inbounds i8, ptr %v12274, i64 229376
  %v12276 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12277 = load ptr, ptr %v12276, !invariant.load !0
  %v12278 = getelementptr inbounds i8, ptr %v12277, i64 3801088
  %v12279 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12280 = load ptr, ptr %v12279, !invariant.load !0
  %v12281 = getelementptr inbounds i8, ptr %v12280, i64 4227072
  %v12282 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12283 = load ptr, ptr %v12282, !invariant.load !0
  %v12284 = getelementptr inbounds i8, ptr %v12283, i64 5111808
  %v12285 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12286 = load ptr, ptr %v12285, !invariant.load !0
  %v12287 = getelementptr inbounds i8, ptr %v12286, i64 1179648
  %v12288 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12289 = load ptr, ptr %v12288, !invariant.load !0
  %v12290 = getelementptr inbounds i8, ptr %v12289, i64 4145152
  %v12291 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12292 = load ptr, ptr %v12291, !invariant.load !0
  %v12293 = getelementptr inbounds i8, ptr %v12292, i64 4866048
  %v12294 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12295 = load ptr, ptr %v12294, !invariant.load !0
  %v12296 = getelementptr inbounds i8, ptr %v12295, i64 2785280
  %v12297 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12298 = load ptr, ptr %v12297, !invariant.load !0
  %v12299 = getelementptr inbounds i8, ptr %v12298, i64 5554176
  %v12300 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12301 = load ptr, ptr %v12300, !invariant.load !0
  %v12302 = getelementptr inbounds i8, ptr %v12301, i64 4505600
  %v12303 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12304 = load ptr, ptr %v12303, !invariant.load !0
  %v12305 = getelementptr inbounds i8, ptr %v12304, i64 1687552
  %v12306 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12307 = load ptr, ptr %v12306, !invariant.load !0
  %v12308 = getelementptr inbounds i8, ptr %v12307, i64 3555328
  %v12309 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12310 = load ptr, ptr %v12309, !invariant.load !0
  %v12311 = getelementptr inbounds i8, ptr %v12310, i64 4276224
  %v12312 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12313 = load ptr, ptr %v12312, !invariant.load !0
  %v12314 = getelementptr inbounds i8, ptr %v12313, i64 4538368
  %v12315 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12316 = load ptr, ptr %v12315, !invariant.load !0
  %v12317 = getelementptr inbounds i8, ptr %v12316, i64 5357568
  %v12318 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12319 = load ptr, ptr %v12318, !invariant.load !0
  %v12320 = getelementptr inbounds i8, ptr %v12319, i64 6389760
  %v12321 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12322 = load ptr, ptr %v12321, !invariant.load !0
  %v12323 = getelementptr inbounds i8, ptr %v12322, i64 5783552
  %v12324 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12325 = load ptr, ptr %v12324, !invariant.load !0
  %v12326 = getelementptr inbounds i8, ptr %v12325, i64 1130496
  %v12327 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12328 = load ptr, ptr %v12327, !invariant.load !0
  %v12329 = getelementptr inbounds i8, ptr %v12328, i64 655360
  %v12330 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12331 = load ptr, ptr %v12330, !invariant.load !0
  %v12332 = getelementptr inbounds i8, ptr %v12331, i64 4308992
  %v12333 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12334 = load ptr, ptr %v12333, !invariant.load !0
  %v12335 = getelementptr inbounds i8, ptr %v12334, i64 3964928
  %v12336 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12337 = load ptr, ptr %v12336, !invariant.load !0
  %v12338 = getelementptr inbounds i8, ptr %v12337, i64 6654720
  %v12340 = getelementptr inbounds ptr, ptr %slot12339, i64 0
  store ptr %v12152, ptr %v12340, align 8
  %v12341 = getelementptr inbounds ptr, ptr %slot12339, i64 1
  store ptr %v12155, ptr %v12341, align 8
  %v12342 = getelementptr inbounds ptr, ptr %slot12339, i64 2
  store ptr %v12158, ptr %v12342, align 8
  %v12343 = getelementptr inbounds ptr, ptr %slot12339, i64 3
  store ptr %v12161, ptr %v12343, align 8
  %v12344 = getelementptr inbounds ptr, ptr %slot12339, i64 4
  store ptr %v12164, ptr %v12344, align 8
  %v12345 = getelementptr inbounds ptr, ptr %slot12339, i64 5
  store ptr %v12167, ptr %v12345, align 8
  %v12346 = getelementptr inbounds ptr, ptr %slot12339, i64 6
  store ptr %v12170, ptr %v12346, align 8
  %v12347 = getelementptr inbounds ptr, ptr %slot12339, i64 7
  store ptr %v12173, ptr %v12347, align 8
  %v12348 = getelementptr inbounds ptr, ptr %slot12339, i64 8
  store ptr %v12176, ptr %v12348, align 8
  %v12349 = getelementptr inbounds ptr, ptr %slot12339, i64 9
  store ptr %v12179, ptr %v12349, align 8
  %v12350 = getelementptr inbounds ptr, ptr %slot12339, i64 10
  store ptr %v12182, ptr %v12350, align 8
  %v12351 = getelementptr inbounds ptr, ptr %slot12339, i64 11
  store ptr %v12185, ptr %v12351, align 8
  %v12352 = getelementptr inbounds ptr, ptr %slot12339, i64 12
  store ptr %v12188, ptr %v12352, align 8
  %v12353 = getelementptr inbounds ptr, ptr %slot12339, i64 13
  store ptr %v12191, ptr %v12353, align 8
  %v12354 = getelementptr inbounds ptr, ptr %slot12339, i64 14
  store ptr %v12194, ptr %v12354, align 8
  %v12355 = getelementptr inbounds ptr, ptr %slot12339, i64 15
  store ptr %v12197, ptr %v12355, align 8
  %v12356 = getelementptr inbounds ptr, ptr %slot12339, i64 16
  store ptr %v12200, ptr %v12356, align 8
  %v12357 = getelementptr inbounds ptr, ptr %slot12339, i64 17
  store ptr %v12203, ptr %v12357, align 8
  %v12358 = getelementptr inbounds ptr, ptr %slot12339, i64 18
  store ptr %v12206, ptr %v12358, align 8
  %v12359 = getelementptr inbounds ptr, ptr %slot12339, i64 19
  store ptr %v12209, ptr %v12359, align 8
  %v12360 = getelementptr inbounds ptr, ptr %slot12339, i64 20
  store ptr %v12212, ptr %v12360, align 8
  %v12361 = getelementptr inbounds ptr, ptr %slot12339, i64 21
  store ptr %v12215, ptr %v12361, align 8
  %v12362 = getelementptr inbounds ptr, ptr %slot12339, i64 22
  store ptr %v12218, ptr %v12362, align 8
  %v12363 = getelementptr inbounds ptr, ptr %slot12339, i64 23
  store ptr %v12221, ptr %v12363, align 8
  %v12364 = getelementptr inbounds ptr, ptr %slot12339, i64 24
  store ptr %v12224, ptr %v12364, align 8
  %v12365 = getelementptr inbounds ptr, ptr %slot12339, i64 25
  store ptr %v12227, ptr %v12365, align 8
  %v12366 = getelementptr inbounds ptr, ptr %slot12339, i64 26
  store ptr %v12230, ptr %v12366, align 8
  %v12367 = getelementptr inbounds ptr, ptr %slot12339, i64 27
  store ptr %v12233, ptr %v12367, align 8
  %v12368 = getelementptr inbounds ptr, ptr %slot12339, i64 28
  store ptr %v12236, ptr %v12368, align 8
  %v12369 = getelementptr inbounds ptr, ptr %slot12339, i64 29
  store ptr %v12239, ptr %v12369, align 8
  %v12370 = getelementptr inbounds ptr, ptr %slot12339, i64 30
  store ptr %v12242, ptr %v12370, align 8
  %v12371 = getelementptr inbounds ptr, ptr %slot12339, i64 31
  store ptr %v12245, ptr %v12371, align 8
  %v12372 = getelementptr inbounds ptr, ptr %slot12339, i64 32
  store ptr %v12248, ptr %v12372, align 8
  %v12373 = getelementptr inbounds ptr, ptr %slot12339, i64 33
  store ptr %v12251, ptr %v12373, align 8
  %v12374 = getelementptr inbounds ptr, ptr %slot12339, i64 34
  store ptr %v12254, ptr %v12374, align 8
  %v12375 = getelementptr inbounds ptr, ptr %slot12339, i64 35
  store ptr %v12257, ptr %v12375, align 8
  %v12376 = getelementptr inbounds ptr, ptr %slot12339, i64 36
  store ptr %v12260, ptr %v12376, align 8
  %v12377 = getelementptr inbounds ptr, ptr %slot12339, i64 37
  store ptr %v12263, ptr %v12377, align 8
  %v12378 = getelementptr inbounds ptr, ptr %slot12339, i64 38
  store ptr %v12266, ptr %v12378, align 8
  %v12379 = getelementptr inbounds ptr, ptr %slot12339, i64 39
  store ptr %v12269, ptr %v12379, align 8
  %v12380 = getelementptr inbounds ptr, ptr %slot12339, i64 40
  store ptr %v12272, ptr %v12380, align 8
  %v12381 = getelementptr inbounds ptr, ptr %slot12339, i64 41
  store ptr %v12275, ptr %v12381, align 8
  %v12382 = getelementptr inbounds ptr, ptr %slot12339, i64 42
  store ptr %v12278, ptr %v12382, align 8
  %v12383 = getelementptr inbounds ptr, ptr %slot12339, i64 43
  store ptr %v12281, ptr %v12383, align 8
  %v12384 = getelementptr inbounds ptr, ptr %slot12339, i64 44
  store ptr %v12284, ptr %v12384, align 8
  %v12385 = getelementptr inbounds ptr, ptr %slot12339, i64 45
  store ptr %v12287, ptr %v12385, align 8
  %v12386 = getelementptr inbounds ptr, ptr %slot12339, i64 46
  store ptr %v12290, ptr %v12386, align 8
  %v12387 = getelementptr inbounds ptr, ptr %slot12339, i64 47
  store ptr %v12293, ptr %v12387, align 8
  %v12388 = getelementptr inbounds ptr, ptr %slot12339, i64 48
  store ptr %v12296, ptr %v12388, align 8
  %v12389 = getelementptr inbounds ptr, ptr %slot12339, i64 49
  store ptr %v12299, ptr %v12389, align 8
  %v12390 = getelementptr inbounds ptr, ptr %slot12339, i64 50
  store ptr %v12302, ptr %v12390, align 8
  %v12391 = getelementptr inbounds ptr, ptr %slot12339, i64 51
  store ptr %v12305, ptr %v12391, align 8
  %v12392 = getelementptr inbounds ptr, ptr %slot12339, i64 52
  store ptr %v12308, ptr %v12392, align 8
  %v12393 = getelementptr inbounds ptr, ptr %slot12339, i64 53
  store ptr %v12311, ptr %v12393, align 8
  %v12394 = getelementptr inbounds ptr, ptr %slot12339, i64 54
  store ptr %v12314, ptr %v12394, align 8
  %v12395 = getelementptr inbounds ptr, ptr %slot12339, i64 55
  store ptr %v12317, ptr %v12395, align 8
  %v12396 = getelementptr inbounds ptr, ptr %slot12339, i64 56
  store ptr %v12320, ptr %v12396, align 8
  %v12397 = getelementptr inbounds ptr, ptr %slot12339, i64 57
  store ptr %v12323, ptr %v12397, align 8
  %v12398 = getelementptr inbounds ptr, ptr %slot12339, i64 58
  store ptr %v12326, ptr %v12398, align 8
  %v12399 = getelementptr inbounds ptr, ptr %slot12339, i64 59
  store ptr %v12329, ptr %v12399, align 8
  %v12400 = getelementptr inbounds ptr, ptr %slot12339, i64 60
  store ptr %v12332, ptr %v12400, align 8
  %v12401 = getelementptr inbounds ptr, ptr %slot12339, i64 61
  store ptr %v12335, ptr %v12401, align 8
  %v12402 = getelementptr inbounds ptr, ptr %slot12339, i64 62
  store ptr %v12338, ptr %v12402, align 8
  call void @xla_explorer_parallel_for(ptr @multiply_maximum_add_fusion_5_task, ptr %slot12339, i64 4)
  %v12403 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12404 = load ptr, ptr %v12403, !invariant.load !0
  %v12405 = getelementptr inbounds i8, ptr %v12404, i64 4915200
  %v12406 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12407 = load ptr, ptr %v12406, !invariant.load !0
  %v12408 = getelementptr inbounds i8, ptr %v12407, i64 65536
  call void @wrapped_broadcast_4(ptr %v12405, ptr %v12408)
  %v12409 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12410 = load ptr, ptr %v12409, !invariant.load !0
  %v12411 = getelementptr inbounds i8, ptr %v12410, i64 917504
  %v12412 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12413 = load ptr, ptr %v12412, !invariant.load !0
  %v12414 = getelementptr inbounds i8, ptr %v12413, i64 65536
  %v12415 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12416 = load ptr, ptr %v12415, !invariant.load !0
  %v12417 = getelementptr inbounds i8, ptr %v12416, i64 212992
  call void @d73(ptr %v12411, ptr %v12414, ptr %v12417)
  %v12418 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12419 = load ptr, ptr %v12418, !invariant.load !0
  %v12420 = getelementptr inbounds i8, ptr %v12419, i64 5865472
  %v12421 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12422 = load ptr, ptr %v12421, !invariant.load !0
  %v12423 = getelementptr inbounds i8, ptr %v12422, i64 3227648
  %v12424 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12425 = load ptr, ptr %v12424, !invariant.load !0
  %v12426 = getelementptr inbounds i8, ptr %v12425, i64 655360
  %v12427 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12428 = load ptr, ptr %v12427, !invariant.load !0
  %v12429 = getelementptr inbounds i8, ptr %v12428, i64 851968
  %v12430 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12431 = load ptr, ptr %v12430, !invariant.load !0
  %v12432 = getelementptr inbounds i8, ptr %v12431, i64 1343488
  %v12433 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12434 = load ptr, ptr %v12433, !invariant.load !0
  %v12435 = getelementptr inbounds i8, ptr %v12434, i64 2801664
  %v12436 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12437 = load ptr, ptr %v12436, !invariant.load !0
  %v12438 = getelementptr inbounds i8, ptr %v12437, i64 212992
  %v12439 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12440 = load ptr, ptr %v12439, !invariant.load !0
  %v12441 = getelementptr inbounds i8, ptr %v12440, i64 376832
  %v12442 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12443 = load ptr, ptr %v12442, !invariant.load !0
  %v12444 = getelementptr inbounds i8, ptr %v12443, i64 4767744
  %v12445 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12446 = load ptr, ptr %v12445, !invariant.load !0
  %v12447 = getelementptr inbounds i8, ptr %v12446, i64 3276800
  %v12448 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12449 = load ptr, ptr %v12448, !invariant.load !0
  %v12450 = getelementptr inbounds i8, ptr %v12449, i64 2539520
  %v12451 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12452 = load ptr, ptr %v12451, !invariant.load !0
  %v12453 = getelementptr inbounds i8, ptr %v12452, i64 65536
  %v12454 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12455 = load ptr, ptr %v12454, !invariant.load !0
  %v12456 = getelementptr inbounds i8, ptr %v12455, i64 229376
  %v12457 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12458 = load ptr, ptr %v12457, !invariant.load !0
  %v12459 = getelementptr inbounds i8, ptr %v12458, i64 311296
  %v12460 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12461 = load ptr, ptr %v12460, !invariant.load !0
  %v12462 = getelementptr inbounds i8, ptr %v12461, i64 557056
  call void @multiply_subtract_maximum_tanh_fusion(ptr %v12420, ptr %v12423, ptr %v12426, ptr %v12429, ptr %v12432, ptr %v12435, ptr %v12438, ptr %v12441, ptr %v12444, ptr %v12447, ptr %v12450, ptr %v12453, ptr %v12456, ptr %v12459, ptr %v12462)
  %v12463 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12464 = load ptr, ptr %v12463, !invariant.load !0
  %v12465 = getelementptr inbounds i8, ptr %v12464, i64 3604480
  %v12466 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12467 = load ptr, ptr %v12466, !invariant.load !0
  %v12468 = getelementptr inbounds i8, ptr %v12467, i64 6471680
  %v12469 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12470 = load ptr, ptr %v12469, !invariant.load !0
  %v12471 = getelementptr inbounds i8, ptr %v12470, i64 491520
  %v12472 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12473 = load ptr, ptr %v12472, !invariant.load !0
  %v12474 = getelementptr inbounds i8, ptr %v12473, i64 6422528
  %v12475 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12476 = load ptr, ptr %v12475, !invariant.load !0
  %v12477 = getelementptr inbounds i8, ptr %v12476, i64 6537216
  %v12478 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12479 = load ptr, ptr %v12478, !invariant.load !0
  %v12480 = getelementptr inbounds i8, ptr %v12479, i64 98304
  %v12481 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12482 = load ptr, ptr %v12481, !invariant.load !0
  %v12483 = getelementptr inbounds i8, ptr %v12482, i64 2080768
  %v12484 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12485 = load ptr, ptr %v12484, !invariant.load !0
  %v12486 = getelementptr inbounds i8, ptr %v12485, i64 6078464
  %v12487 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12488 = load ptr, ptr %v12487, !invariant.load !0
  %v12489 = getelementptr inbounds i8, ptr %v12488, i64 16384
  %v12490 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12491 = load ptr, ptr %v12490, !invariant.load !0
  %v12492 = getelementptr inbounds i8, ptr %v12491, i64 655360
  %v12493 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12494 = load ptr, ptr %v12493, !invariant.load !0
  %v12495 = getelementptr inbounds i8, ptr %v12494, i64 573440
  call void @tanh_add_maximum_subtract_fusion(ptr %v12465, ptr %v12468, ptr %v12471, ptr %v12474, ptr %v12477, ptr %v12480, ptr %v12483, ptr %v12486, ptr %v12489, ptr %v12492, ptr %v12495)
  %v12496 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12497 = load ptr, ptr %v12496, !invariant.load !0
  %v12498 = getelementptr inbounds i8, ptr %v12497, i64 344064
  %v12499 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12500 = load ptr, ptr %v12499, !invariant.load !0
  %v12501 = getelementptr inbounds i8, ptr %v12500, i64 3325952
  %v12502 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12503 = load ptr, ptr %v12502, !invariant.load !0
  %v12504 = getelementptr inbounds i8, ptr %v12503, i64 524288
  %v12505 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12506 = load ptr, ptr %v12505, !invariant.load !0
  %v12507 = getelementptr inbounds i8, ptr %v12506, i64 442368
  %v12508 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12509 = load ptr, ptr %v12508, !invariant.load !0
  %v12510 = getelementptr inbounds i8, ptr %v12509, i64 360448
  %v12511 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12512 = load ptr, ptr %v12511, !invariant.load !0
  %v12513 = getelementptr inbounds i8, ptr %v12512, i64 1867776
  %v12514 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12515 = load ptr, ptr %v12514, !invariant.load !0
  %v12516 = getelementptr inbounds i8, ptr %v12515, i64 4931584
  %v12517 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12518 = load ptr, ptr %v12517, !invariant.load !0
  %v12519 = getelementptr inbounds i8, ptr %v12518, i64 475136
  %v12520 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12521 = load ptr, ptr %v12520, !invariant.load !0
  %v12522 = getelementptr inbounds i8, ptr %v12521, i64 4341760
  %v12523 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12524 = load ptr, ptr %v12523, !invariant.load !0
  %v12525 = getelementptr inbounds i8, ptr %v12524, i64 1228800
  %v12526 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12527 = load ptr, ptr %v12526, !invariant.load !0
  %v12528 = getelementptr inbounds i8, ptr %v12527, i64 3162112
  %v12529 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12530 = load ptr, ptr %v12529, !invariant.load !0
  %v12531 = getelementptr inbounds i8, ptr %v12530, i64 3309568
  %v12532 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12533 = load ptr, ptr %v12532, !invariant.load !0
  %v12534 = getelementptr inbounds i8, ptr %v12533, i64 2572288
  %v12535 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12536 = load ptr, ptr %v12535, !invariant.load !0
  %v12537 = getelementptr inbounds i8, ptr %v12536, i64 6602752
  %v12538 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12539 = load ptr, ptr %v12538, !invariant.load !0
  %v12540 = getelementptr inbounds i8, ptr %v12539, i64 3604480
  %v12541 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12542 = load ptr, ptr %v12541, !invariant.load !0
  %v12543 = getelementptr inbounds i8, ptr %v12542, i64 4784128
  %v12544 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12545 = load ptr, ptr %v12544, !invariant.load !0
  %v12546 = getelementptr inbounds i8, ptr %v12545, i64 409600
  %v12547 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12548 = load ptr, ptr %v12547, !invariant.load !0
  %v12549 = getelementptr inbounds i8, ptr %v12548, i64 1982464
  %v12550 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12551 = load ptr, ptr %v12550, !invariant.load !0
  %v12552 = getelementptr inbounds i8, ptr %v12551, i64 4882432
  %v12553 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12554 = load ptr, ptr %v12553, !invariant.load !0
  %v12555 = getelementptr inbounds i8, ptr %v12554, i64 1114112
  %v12556 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12557 = load ptr, ptr %v12556, !invariant.load !0
  %v12558 = getelementptr inbounds i8, ptr %v12557, i64 4702208
  %v12559 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12560 = load ptr, ptr %v12559, !invariant.load !0
  %v12561 = getelementptr inbounds i8, ptr %v12560, i64 5636096
  %v12562 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12563 = load ptr, ptr %v12562, !invariant.load !0
  %v12564 = getelementptr inbounds i8, ptr %v12563, i64 606208
  %v12565 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12566 = load ptr, ptr %v12565, !invariant.load !0
  %v12567 = getelementptr inbounds i8, ptr %v12566, i64 4194304
  %v12568 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12569 = load ptr, ptr %v12568, !invariant.load !0
  %v12570 = getelementptr inbounds i8, ptr %v12569, i64 196608
  %v12571 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12572 = load ptr, ptr %v12571, !invariant.load !0
  %v12573 = getelementptr inbounds i8, ptr %v12572, i64 6504448
  %v12574 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12575 = load ptr, ptr %v12574, !invariant.load !0
  %v12576 = getelementptr inbounds i8, ptr %v12575, i64 4718592
  %v12577 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12578 = load ptr, ptr %v12577, !invariant.load !0
  %v12579 = getelementptr inbounds i8, ptr %v12578, i64 6373376
  %v12581 = getelementptr inbounds ptr, ptr %slot12580, i64 0
  store ptr %v12498, ptr %v12581, align 8
  %v12582 = getelementptr inbounds ptr, ptr %slot12580, i64 1
  store ptr %v12501, ptr %v12582, align 8
  %v12583 = getelementptr inbounds ptr, ptr %slot12580, i64 2
  store ptr %v12504, ptr %v12583, align 8
  %v12584 = getelementptr inbounds ptr, ptr %slot12580, i64 3
  store ptr %v12507, ptr %v12584, align 8
  %v12585 = getelementptr inbounds ptr, ptr %slot12580, i64 4
  store ptr %v12510, ptr %v12585, align 8
  %v12586 = getelementptr inbounds ptr, ptr %slot12580, i64 5
  store ptr %v12513, ptr %v12586, align 8
  %v12587 = getelementptr inbounds ptr, ptr %slot12580, i64 6
  store ptr %v12516, ptr %v12587, align 8
  %v12588 = getelementptr inbounds ptr, ptr %slot12580, i64 7
  store ptr %v12519, ptr %v12588, align 8
  %v12589 = getelementptr inbounds ptr, ptr %slot12580, i64 8
  store ptr %v12522, ptr %v12589, align 8
  %v12590 = getelementptr inbounds ptr, ptr %slot12580, i64 9
  store ptr %v12525, ptr %v12590, align 8
  %v12591 = getelementptr inbounds ptr, ptr %slot12580, i64 10
  store ptr %v12528, ptr %v12591, align 8
  %v12592 = getelementptr inbounds ptr, ptr %slot12580, i64 11
  store ptr %v12531, ptr %v12592, align 8
  %v12593 = getelementptr inbounds ptr, ptr %slot12580, i64 12
  store ptr %v12534, ptr %v12593, align 8
  %v12594 = getelementptr inbounds ptr, ptr %slot12580, i64 13
  store ptr %v12537, ptr %v12594, align 8
  %v12595 = getelementptr inbounds ptr, ptr %slot12580, i64 14
  store ptr %v12540, ptr %v12595, align 8
  %v12596 = getelementptr inbounds ptr, ptr %slot12580, i64 15
  store ptr %v12543, ptr %v12596, align 8
  %v12597 = getelementptr inbounds ptr, ptr %slot12580, i64 16
  store ptr %v12546, ptr %v12597, align 8
  %v12598 = getelementptr inbounds ptr, ptr %slot12580, i64 17
  store ptr %v12549, ptr %v12598, align 8
  %v12599 = getelementptr inbounds ptr, ptr %slot12580, i64 18
  store ptr %v12552, ptr %v12599, align 8
  %v12600 = getelementptr inbounds ptr, ptr %slot12580, i64 19
  store ptr %v12555, ptr %v12600, align 8
  %v12601 = getelementptr inbounds ptr, ptr %slot12580, i64 20
  store ptr %v12558, ptr %v12601, align 8
  %v12602 = getelementptr inbounds ptr, ptr %slot12580, i64 21
  store ptr %v12561, ptr %v12602, align 8
  %v12603 = getelementptr inbounds ptr, ptr %slot12580, i64 22
  store ptr %v12564, ptr %v12603, align 8
  %v12604 = getelementptr inbounds ptr, ptr %slot12580, i64 23
  store ptr %v12567, ptr %v12604, align 8
  %v12605 = getelementptr inbounds ptr, ptr %slot12580, i64 24
  store ptr %v12570, ptr %v12605, align 8
  %v12606 = getelementptr inbounds ptr, ptr %slot12580, i64 25
  store ptr %v12573, ptr %v12606, align 8
  %v12607 = getelementptr inbounds ptr, ptr %slot12580, i64 26
  store ptr %v12576, ptr %v12607, align 8
  %v12608 = getelementptr inbounds ptr, ptr %slot12580, i64 27
  store ptr %v12579, ptr %v12608, align 8
  call void @xla_explorer_parallel_for(ptr @subtract_multiply_add_fusion_16_task, ptr %slot12580, i64 2)
  %v12609 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12610 = load ptr, ptr %v12609, !invariant.load !0
  %v12611 = getelementptr inbounds i8, ptr %v12610, i64 4521984
  %v12612 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12613 = load ptr, ptr %v12612, !invariant.load !0
  %v12614 = getelementptr inbounds i8, ptr %v12613, i64 3407872
  %v12615 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12616 = load ptr, ptr %v12615, !invariant.load !0
  %v12617 = getelementptr inbounds i8, ptr %v12616, i64 196608
  call void @d73(ptr %v12611, ptr %v12614, ptr %v12617)
  %v12618 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12619 = load ptr, ptr %v12618, !invariant.load !0
  %v12620 = getelementptr inbounds i8, ptr %v12619, i64 1572864
  %v12621 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12622 = load ptr, ptr %v12621, !invariant.load !0
  %v12623 = getelementptr inbounds i8, ptr %v12622, i64 4128768
  call void @multiply_reduce_fusion_13(ptr %v12620, ptr %v12623)
  %v12624 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12625 = load ptr, ptr %v12624, !invariant.load !0
  %v12626 = getelementptr inbounds i8, ptr %v12625, i64 4276224
  call void @wrapped_tanh_540(ptr %v12626)
  %v12627 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12628 = load ptr, ptr %v12627, !invariant.load !0
  %v12629 = getelementptr inbounds i8, ptr %v12628, i64 622592
  %v12630 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12631 = load ptr, ptr %v12630, !invariant.load !0
  %v12632 = getelementptr inbounds i8, ptr %v12631, i64 4129024
  call void @reduce_fusion_110(ptr %v12629, ptr %v12632)
  %v12633 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12634 = load ptr, ptr %v12633, !invariant.load !0
  %v12635 = getelementptr inbounds i8, ptr %v12634, i64 4129024
  call void @wrapped_tanh_540(ptr %v12635)
  %v12636 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12637 = load ptr, ptr %v12636, !invariant.load !0
  %v12638 = getelementptr inbounds i8, ptr %v12637, i64 1458176
  %v12639 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12640 = load ptr, ptr %v12639, !invariant.load !0
  %v12641 = getelementptr inbounds i8, ptr %v12640, i64 4129280
  call void @reduce_fusion_110(ptr %v12638, ptr %v12641)
  ret i32 0
}

define hidden i32 @xe_entry_part13(ptr noalias %arguments) nounwind optnone noinline "optimization-level"="final" {
entry:
  %slot13429 = alloca ptr, i64 63, align 64
  %v12642 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12643 = load ptr, ptr %v12642, !invariant.load !0
  %v12644 = getelementptr inbounds i8, ptr %v12643, i64 4129280
  call void @wrapped_tanh_540(ptr %v12644)
  %v12645 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12646 = load ptr, ptr %v12645, !invariant.load !0
  %v12647 = getelementptr inbounds i8, ptr %v12646, i64 6520832
  %v12648 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12649 = load ptr, ptr %v12648, !invariant.load !0
  %v12650 = getelementptr inbounds i8, ptr %v12649, i64 4129536
  call void @reduce_fusion_110(ptr %v12647, ptr %v12650)
  %v12651 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12652 = load ptr, ptr %v12651, !invariant.load !0
  %v12653 = getelementptr inbounds i8, ptr %v12652, i64 4129536
  call void @wrapped_tanh_540(ptr %v12653)
  %v12654 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12655 = load ptr, ptr %v12654, !invariant.load !0
  %v12656 = getelementptr inbounds i8, ptr %v12655, i64 6586368
  %v12657 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12658 = load ptr, ptr %v12657, !invariant.load !0
  %v12659 = getelementptr inbounds i8, ptr %v12658, i64 3440640
  %v12660 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12661 = load ptr, ptr %v12660, !invariant.load !0
  %v12662 = getelementptr inbounds i8, ptr %v12661, i64 360448
  call void @d73(ptr %v12656, ptr %v12659, ptr %v12662)
  %v12663 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12664 = load ptr, ptr %v12663, !invariant.load !0
  %v12665 = getelementptr inbounds i8, ptr %v12664, i64 4128768
  call void @wrapped_tanh_540(ptr %v12665)
  %v12666 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12667 = load ptr, ptr %v12666, !invariant.load !0
  %v12668 = getelementptr inbounds i8, ptr %v12667, i64 2965504
  %v12669 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12670 = load ptr, ptr %v12669, !invariant.load !0
  %v12671 = getelementptr inbounds i8, ptr %v12670, i64 6619136
  %v12672 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12673 = load ptr, ptr %v12672, !invariant.load !0
  %v12674 = getelementptr inbounds i8, ptr %v12673, i64 81920
  %v12675 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12676 = load ptr, ptr %v12675, !invariant.load !0
  %v12677 = getelementptr inbounds i8, ptr %v12676, i64 5767168
  call void @multiply_maximum_subtract_fusion_2(ptr %v12668, ptr %v12671, ptr %v12674, ptr %v12677)
  %v12678 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12679 = load ptr, ptr %v12678, !invariant.load !0
  %v12680 = getelementptr inbounds i8, ptr %v12679, i64 5013504
  %v12681 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12682 = load ptr, ptr %v12681, !invariant.load !0
  %v12683 = getelementptr inbounds i8, ptr %v12682, i64 622592
  %v12684 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12685 = load ptr, ptr %v12684, !invariant.load !0
  %v12686 = getelementptr inbounds i8, ptr %v12685, i64 6553600
  %v12687 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12688 = load ptr, ptr %v12687, !invariant.load !0
  %v12689 = getelementptr inbounds i8, ptr %v12688, i64 6356992
  %v12690 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12691 = load ptr, ptr %v12690, !invariant.load !0
  %v12692 = getelementptr inbounds i8, ptr %v12691, i64 4243968
  %v12693 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12694 = load ptr, ptr %v12693, !invariant.load !0
  %v12695 = getelementptr inbounds i8, ptr %v12694, i64 507904
  %v12696 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12697 = load ptr, ptr %v12696, !invariant.load !0
  %v12698 = getelementptr inbounds i8, ptr %v12697, i64 147456
  %v12699 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12700 = load ptr, ptr %v12699, !invariant.load !0
  %v12701 = getelementptr inbounds i8, ptr %v12700, i64 5521408
  %v12702 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12703 = load ptr, ptr %v12702, !invariant.load !0
  %v12704 = getelementptr inbounds i8, ptr %v12703, i64 5898240
  %v12705 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12706 = load ptr, ptr %v12705, !invariant.load !0
  %v12707 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12708 = load ptr, ptr %v12707, !invariant.load !0
  %v12709 = getelementptr inbounds i8, ptr %v12708, i64 2326528
  %v12710 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12711 = load ptr, ptr %v12710, !invariant.load !0
  %v12712 = getelementptr inbounds i8, ptr %v12711, i64 409600
  %v12713 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12714 = load ptr, ptr %v12713, !invariant.load !0
  %v12715 = getelementptr inbounds i8, ptr %v12714, i64 475136
  call void @minimum_multiply_add_maximum_fusion_1(ptr %v12680, ptr %v12683, ptr %v12686, ptr %v12689, ptr %v12692, ptr %v12695, ptr %v12698, ptr %v12701, ptr %v12704, ptr %v12706, ptr %v12709, ptr %v12712, ptr %v12715)
  %v12716 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12717 = load ptr, ptr %v12716, !invariant.load !0
  %v12718 = getelementptr inbounds i8, ptr %v12717, i64 622592
  %v12719 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12720 = load ptr, ptr %v12719, !invariant.load !0
  %v12721 = getelementptr inbounds i8, ptr %v12720, i64 32768
  %v12722 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12723 = load ptr, ptr %v12722, !invariant.load !0
  %v12724 = getelementptr inbounds i8, ptr %v12723, i64 524288
  call void @d73(ptr %v12718, ptr %v12721, ptr %v12724)
  %v12725 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12726 = load ptr, ptr %v12725, !invariant.load !0
  %v12727 = getelementptr inbounds i8, ptr %v12726, i64 3866624
  %v12728 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12729 = load ptr, ptr %v12728, !invariant.load !0
  %v12730 = getelementptr inbounds i8, ptr %v12729, i64 6242304
  %v12731 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12732 = load ptr, ptr %v12731, !invariant.load !0
  %v12733 = getelementptr inbounds i8, ptr %v12732, i64 442368
  %v12734 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12735 = load ptr, ptr %v12734, !invariant.load !0
  %v12736 = getelementptr inbounds i8, ptr %v12735, i64 4489216
  %v12737 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12738 = load ptr, ptr %v12737, !invariant.load !0
  %v12739 = getelementptr inbounds i8, ptr %v12738, i64 4096000
  %v12740 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12741 = load ptr, ptr %v12740, !invariant.load !0
  %v12742 = getelementptr inbounds i8, ptr %v12741, i64 425984
  %v12743 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12744 = load ptr, ptr %v12743, !invariant.load !0
  %v12745 = getelementptr inbounds i8, ptr %v12744, i64 1736704
  %v12746 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12747 = load ptr, ptr %v12746, !invariant.load !0
  %v12748 = getelementptr inbounds i8, ptr %v12747, i64 2555904
  %v12749 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12750 = load ptr, ptr %v12749, !invariant.load !0
  %v12751 = getelementptr inbounds i8, ptr %v12750, i64 3293184
  %v12752 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12753 = load ptr, ptr %v12752, !invariant.load !0
  %v12754 = getelementptr inbounds i8, ptr %v12753, i64 32768
  %v12755 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12756 = load ptr, ptr %v12755, !invariant.load !0
  %v12757 = getelementptr inbounds i8, ptr %v12756, i64 720896
  %v12758 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12759 = load ptr, ptr %v12758, !invariant.load !0
  %v12760 = getelementptr inbounds i8, ptr %v12759, i64 786432
  call void @add_tanh_multiply_minimum_fusion(ptr %v12727, ptr %v12730, ptr %v12733, ptr %v12736, ptr %v12739, ptr %v12742, ptr %v12745, ptr %v12748, ptr %v12751, ptr %v12754, ptr %v12757, ptr %v12760)
  %v12761 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12762 = load ptr, ptr %v12761, !invariant.load !0
  %v12763 = getelementptr inbounds i8, ptr %v12762, i64 2916352
  %v12764 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12765 = load ptr, ptr %v12764, !invariant.load !0
  %v12766 = getelementptr inbounds i8, ptr %v12765, i64 1179648
  %v12767 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12768 = load ptr, ptr %v12767, !invariant.load !0
  %v12769 = getelementptr inbounds i8, ptr %v12768, i64 638976
  %v12770 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12771 = load ptr, ptr %v12770, !invariant.load !0
  %v12772 = getelementptr inbounds i8, ptr %v12771, i64 3031040
  %v12773 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12774 = load ptr, ptr %v12773, !invariant.load !0
  %v12775 = getelementptr inbounds i8, ptr %v12774, i64 6438912
  %v12776 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12777 = load ptr, ptr %v12776, !invariant.load !0
  %v12778 = getelementptr inbounds i8, ptr %v12777, i64 524288
  %v12779 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12780 = load ptr, ptr %v12779, !invariant.load !0
  %v12781 = getelementptr inbounds i8, ptr %v12780, i64 5521408
  %v12782 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12783 = load ptr, ptr %v12782, !invariant.load !0
  %v12784 = getelementptr inbounds i8, ptr %v12783, i64 1933312
  %v12785 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12786 = load ptr, ptr %v12785, !invariant.load !0
  %v12787 = getelementptr inbounds i8, ptr %v12786, i64 950272
  %v12788 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12789 = load ptr, ptr %v12788, !invariant.load !0
  %v12790 = getelementptr inbounds i8, ptr %v12789, i64 983040
  %v12791 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12792 = load ptr, ptr %v12791, !invariant.load !0
  %v12793 = getelementptr inbounds i8, ptr %v12792, i64 999424
  %v12794 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12795 = load ptr, ptr %v12794, !invariant.load !0
  %v12796 = getelementptr inbounds i8, ptr %v12795, i64 1015808
  %v12797 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12798 = load ptr, ptr %v12797, !invariant.load !0
  %v12799 = getelementptr inbounds i8, ptr %v12798, i64 1032192
  %v12800 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12801 = load ptr, ptr %v12800, !invariant.load !0
  %v12802 = getelementptr inbounds i8, ptr %v12801, i64 1114112
  %v12803 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12804 = load ptr, ptr %v12803, !invariant.load !0
  %v12805 = getelementptr inbounds i8, ptr %v12804, i64 1130496
  call void @multiply_subtract_tanh_minimum_fusion_1(ptr %v12763, ptr %v12766, ptr %v12769, ptr %v12772, ptr %v12775, ptr %v12778, ptr %v12781, ptr %v12784, ptr %v12787, ptr %v12790, ptr %v12793, ptr %v12796, ptr %v12799, ptr %v12802, ptr %v12805)
  %v12806 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12807 = load ptr, ptr %v12806, !invariant.load !0
  %v12808 = getelementptr inbounds i8, ptr %v12807, i64 606208
  %v12809 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12810 = load ptr, ptr %v12809, !invariant.load !0
  %v12811 = getelementptr inbounds i8, ptr %v12810, i64 5750784
  %v12812 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12813 = load ptr, ptr %v12812, !invariant.load !0
  %v12814 = getelementptr inbounds i8, ptr %v12813, i64 5390336
  %v12815 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12816 = load ptr, ptr %v12815, !invariant.load !0
  %v12817 = getelementptr inbounds i8, ptr %v12816, i64 6455296
  %v12818 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12819 = load ptr, ptr %v12818, !invariant.load !0
  %v12820 = getelementptr inbounds i8, ptr %v12819, i64 1114112
  %v12821 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12822 = load ptr, ptr %v12821, !invariant.load !0
  %v12823 = getelementptr inbounds i8, ptr %v12822, i64 2473984
  %v12824 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12825 = load ptr, ptr %v12824, !invariant.load !0
  %v12826 = getelementptr inbounds i8, ptr %v12825, i64 4244224
  %v12827 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12828 = load ptr, ptr %v12827, !invariant.load !0
  %v12829 = getelementptr inbounds i8, ptr %v12828, i64 4129536
  %v12830 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12831 = load ptr, ptr %v12830, !invariant.load !0
  %v12832 = getelementptr inbounds i8, ptr %v12831, i64 1736704
  %v12833 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12834 = load ptr, ptr %v12833, !invariant.load !0
  %v12835 = getelementptr inbounds i8, ptr %v12834, i64 4964352
  %v12836 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12837 = load ptr, ptr %v12836, !invariant.load !0
  %v12838 = getelementptr inbounds i8, ptr %v12837, i64 1572864
  %v12839 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12840 = load ptr, ptr %v12839, !invariant.load !0
  %v12841 = getelementptr inbounds i8, ptr %v12840, i64 1605632
  call void @subtract_tanh_multiply_fusion_2(ptr %v12808, ptr %v12811, ptr %v12814, ptr %v12817, ptr %v12820, ptr %v12823, ptr %v12826, ptr %v12829, ptr %v12832, ptr %v12835, ptr %v12838, ptr %v12841)
  %v12842 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12843 = load ptr, ptr %v12842, !invariant.load !0
  %v12844 = getelementptr inbounds i8, ptr %v12843, i64 4079616
  %v12845 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12846 = load ptr, ptr %v12845, !invariant.load !0
  %v12847 = getelementptr inbounds i8, ptr %v12846, i64 1474560
  %v12848 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12849 = load ptr, ptr %v12848, !invariant.load !0
  %v12850 = getelementptr inbounds i8, ptr %v12849, i64 2883584
  %v12851 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12852 = load ptr, ptr %v12851, !invariant.load !0
  %v12853 = getelementptr inbounds i8, ptr %v12852, i64 3473408
  %v12854 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12855 = load ptr, ptr %v12854, !invariant.load !0
  %v12856 = getelementptr inbounds i8, ptr %v12855, i64 1916928
  %v12857 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12858 = load ptr, ptr %v12857, !invariant.load !0
  %v12859 = getelementptr inbounds i8, ptr %v12858, i64 2801664
  %v12860 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12861 = load ptr, ptr %v12860, !invariant.load !0
  %v12862 = getelementptr inbounds i8, ptr %v12861, i64 4276224
  %v12863 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12864 = load ptr, ptr %v12863, !invariant.load !0
  %v12865 = getelementptr inbounds i8, ptr %v12864, i64 6012928
  %v12866 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12867 = load ptr, ptr %v12866, !invariant.load !0
  %v12868 = getelementptr inbounds i8, ptr %v12867, i64 2457600
  %v12869 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12870 = load ptr, ptr %v12869, !invariant.load !0
  %v12871 = getelementptr inbounds i8, ptr %v12870, i64 3932160
  %v12872 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12873 = load ptr, ptr %v12872, !invariant.load !0
  %v12874 = getelementptr inbounds i8, ptr %v12873, i64 1654784
  %v12875 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12876 = load ptr, ptr %v12875, !invariant.load !0
  %v12877 = getelementptr inbounds i8, ptr %v12876, i64 1687552
  %v12878 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12879 = load ptr, ptr %v12878, !invariant.load !0
  %v12880 = getelementptr inbounds i8, ptr %v12879, i64 1720320
  %v12881 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12882 = load ptr, ptr %v12881, !invariant.load !0
  %v12883 = getelementptr inbounds i8, ptr %v12882, i64 1785856
  %v12884 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12885 = load ptr, ptr %v12884, !invariant.load !0
  %v12886 = getelementptr inbounds i8, ptr %v12885, i64 1835008
  %v12887 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12888 = load ptr, ptr %v12887, !invariant.load !0
  %v12889 = getelementptr inbounds i8, ptr %v12888, i64 1867776
  %v12890 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12891 = load ptr, ptr %v12890, !invariant.load !0
  %v12892 = getelementptr inbounds i8, ptr %v12891, i64 1982464
  call void @tanh_multiply_minimum_subtract_fusion_2(ptr %v12844, ptr %v12847, ptr %v12850, ptr %v12853, ptr %v12856, ptr %v12859, ptr %v12862, ptr %v12865, ptr %v12868, ptr %v12871, ptr %v12874, ptr %v12877, ptr %v12880, ptr %v12883, ptr %v12886, ptr %v12889, ptr %v12892)
  %v12893 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12894 = load ptr, ptr %v12893, !invariant.load !0
  %v12895 = getelementptr inbounds i8, ptr %v12894, i64 6324224
  %v12896 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12897 = load ptr, ptr %v12896, !invariant.load !0
  %v12898 = getelementptr inbounds i8, ptr %v12897, i64 1900544
  %v12899 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12900 = load ptr, ptr %v12899, !invariant.load !0
  %v12901 = getelementptr inbounds i8, ptr %v12900, i64 1851392
  %v12902 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12903 = load ptr, ptr %v12902, !invariant.load !0
  %v12904 = getelementptr inbounds i8, ptr %v12903, i64 5013504
  %v12905 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12906 = load ptr, ptr %v12905, !invariant.load !0
  %v12907 = getelementptr inbounds i8, ptr %v12906, i64 753664
  %v12908 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12909 = load ptr, ptr %v12908, !invariant.load !0
  %v12910 = getelementptr inbounds i8, ptr %v12909, i64 3588096
  %v12911 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12912 = load ptr, ptr %v12911, !invariant.load !0
  %v12913 = getelementptr inbounds i8, ptr %v12912, i64 32768
  %v12914 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12915 = load ptr, ptr %v12914, !invariant.load !0
  %v12916 = getelementptr inbounds i8, ptr %v12915, i64 3031040
  %v12917 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12918 = load ptr, ptr %v12917, !invariant.load !0
  %v12919 = getelementptr inbounds i8, ptr %v12918, i64 1720320
  %v12920 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12921 = load ptr, ptr %v12920, !invariant.load !0
  %v12922 = getelementptr inbounds i8, ptr %v12921, i64 688128
  %v12923 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12924 = load ptr, ptr %v12923, !invariant.load !0
  %v12925 = getelementptr inbounds i8, ptr %v12924, i64 3063808
  %v12926 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12927 = load ptr, ptr %v12926, !invariant.load !0
  %v12928 = getelementptr inbounds i8, ptr %v12927, i64 2048000
  %v12929 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12930 = load ptr, ptr %v12929, !invariant.load !0
  %v12931 = getelementptr inbounds i8, ptr %v12930, i64 2097152
  %v12932 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12933 = load ptr, ptr %v12932, !invariant.load !0
  %v12934 = getelementptr inbounds i8, ptr %v12933, i64 2490368
  %v12935 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12936 = load ptr, ptr %v12935, !invariant.load !0
  %v12937 = getelementptr inbounds i8, ptr %v12936, i64 2572288
  %v12938 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12939 = load ptr, ptr %v12938, !invariant.load !0
  %v12940 = getelementptr inbounds i8, ptr %v12939, i64 2670592
  %v12941 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12942 = load ptr, ptr %v12941, !invariant.load !0
  %v12943 = getelementptr inbounds i8, ptr %v12942, i64 2736128
  %v12944 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12945 = load ptr, ptr %v12944, !invariant.load !0
  %v12946 = getelementptr inbounds i8, ptr %v12945, i64 2785280
  call void @multiply_add_subtract_tanh_fusion(ptr %v12895, ptr %v12898, ptr %v12901, ptr %v12904, ptr %v12907, ptr %v12910, ptr %v12913, ptr %v12916, ptr %v12919, ptr %v12922, ptr %v12925, ptr %v12928, ptr %v12931, ptr %v12934, ptr %v12937, ptr %v12940, ptr %v12943, ptr %v12946)
  %v12947 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12948 = load ptr, ptr %v12947, !invariant.load !0
  %v12949 = getelementptr inbounds i8, ptr %v12948, i64 2129920
  %v12950 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12951 = load ptr, ptr %v12950, !invariant.load !0
  %v12952 = getelementptr inbounds i8, ptr %v12951, i64 2064384
  %v12953 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12954 = load ptr, ptr %v12953, !invariant.load !0
  %v12955 = getelementptr inbounds i8, ptr %v12954, i64 819200
  %v12956 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12957 = load ptr, ptr %v12956, !invariant.load !0
  %v12958 = getelementptr inbounds i8, ptr %v12957, i64 3883008
  %v12959 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12960 = load ptr, ptr %v12959, !invariant.load !0
  %v12961 = getelementptr inbounds i8, ptr %v12960, i64 3522560
  %v12962 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12963 = load ptr, ptr %v12962, !invariant.load !0
  %v12964 = getelementptr inbounds i8, ptr %v12963, i64 3293184
  %v12965 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12966 = load ptr, ptr %v12965, !invariant.load !0
  %v12967 = getelementptr inbounds i8, ptr %v12966, i64 1720320
  %v12968 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12969 = load ptr, ptr %v12968, !invariant.load !0
  %v12970 = getelementptr inbounds i8, ptr %v12969, i64 5390336
  %v12971 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12972 = load ptr, ptr %v12971, !invariant.load !0
  %v12973 = getelementptr inbounds i8, ptr %v12972, i64 3211264
  %v12974 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12975 = load ptr, ptr %v12974, !invariant.load !0
  %v12976 = getelementptr inbounds i8, ptr %v12975, i64 2490368
  %v12977 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12978 = load ptr, ptr %v12977, !invariant.load !0
  %v12979 = getelementptr inbounds i8, ptr %v12978, i64 2834432
  %v12980 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12981 = load ptr, ptr %v12980, !invariant.load !0
  %v12982 = getelementptr inbounds i8, ptr %v12981, i64 2899968
  %v12983 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12984 = load ptr, ptr %v12983, !invariant.load !0
  %v12985 = getelementptr inbounds i8, ptr %v12984, i64 2932736
  %v12986 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12987 = load ptr, ptr %v12986, !invariant.load !0
  %v12988 = getelementptr inbounds i8, ptr %v12987, i64 2981888
  %v12989 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12990 = load ptr, ptr %v12989, !invariant.load !0
  %v12991 = getelementptr inbounds i8, ptr %v12990, i64 3162112
  call void @tanh_multiply_add_minimum_fusion_2(ptr %v12949, ptr %v12952, ptr %v12955, ptr %v12958, ptr %v12961, ptr %v12964, ptr %v12967, ptr %v12970, ptr %v12973, ptr %v12976, ptr %v12979, ptr %v12982, ptr %v12985, ptr %v12988, ptr %v12991)
  %v12992 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12993 = load ptr, ptr %v12992, !invariant.load !0
  %v12994 = getelementptr inbounds i8, ptr %v12993, i64 1703936
  %v12995 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12996 = load ptr, ptr %v12995, !invariant.load !0
  %v12997 = getelementptr inbounds i8, ptr %v12996, i64 5308416
  %v12998 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v12999 = load ptr, ptr %v12998, !invariant.load !0
  %v13000 = getelementptr inbounds i8, ptr %v12999, i64 4063232
  %v13001 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13002 = load ptr, ptr %v13001, !invariant.load !0
  %v13003 = getelementptr inbounds i8, ptr %v13002, i64 229376
  %v13004 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13005 = load ptr, ptr %v13004, !invariant.load !0
  %v13006 = getelementptr inbounds i8, ptr %v13005, i64 3571712
  %v13007 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13008 = load ptr, ptr %v13007, !invariant.load !0
  %v13009 = getelementptr inbounds i8, ptr %v13008, i64 573440
  %v13010 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13011 = load ptr, ptr %v13010, !invariant.load !0
  %v13012 = getelementptr inbounds i8, ptr %v13011, i64 507904
  %v13013 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13014 = load ptr, ptr %v13013, !invariant.load !0
  %v13015 = getelementptr inbounds i8, ptr %v13014, i64 4014080
  %v13016 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13017 = load ptr, ptr %v13016, !invariant.load !0
  %v13018 = getelementptr inbounds i8, ptr %v13017, i64 3981568
  %v13019 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13020 = load ptr, ptr %v13019, !invariant.load !0
  %v13021 = getelementptr inbounds i8, ptr %v13020, i64 5390336
  %v13022 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13023 = load ptr, ptr %v13022, !invariant.load !0
  %v13024 = getelementptr inbounds i8, ptr %v13023, i64 2949120
  %v13025 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13026 = load ptr, ptr %v13025, !invariant.load !0
  %v13027 = getelementptr inbounds i8, ptr %v13026, i64 4603904
  %v13028 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13029 = load ptr, ptr %v13028, !invariant.load !0
  %v13030 = getelementptr inbounds i8, ptr %v13029, i64 3178496
  %v13031 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13032 = load ptr, ptr %v13031, !invariant.load !0
  %v13033 = getelementptr inbounds i8, ptr %v13032, i64 3194880
  %v13034 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13035 = load ptr, ptr %v13034, !invariant.load !0
  %v13036 = getelementptr inbounds i8, ptr %v13035, i64 3309568
  call void @add_subtract_multiply_maximum_fusion(ptr %v12994, ptr %v12997, ptr %v13000, ptr %v13003, ptr %v13006, ptr %v13009, ptr %v13012, ptr %v13015, ptr %v13018, ptr %v13021, ptr %v13024, ptr %v13027, ptr %v13030, ptr %v13033, ptr %v13036)
  %v13037 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13038 = load ptr, ptr %v13037, !invariant.load !0
  %v13039 = getelementptr inbounds i8, ptr %v13038, i64 901120
  %v13040 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13041 = load ptr, ptr %v13040, !invariant.load !0
  %v13042 = getelementptr inbounds i8, ptr %v13041, i64 278528
  %v13043 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13044 = load ptr, ptr %v13043, !invariant.load !0
  %v13045 = getelementptr inbounds i8, ptr %v13044, i64 4292608
  %v13046 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13047 = load ptr, ptr %v13046, !invariant.load !0
  %v13048 = getelementptr inbounds i8, ptr %v13047, i64 1802240
  %v13049 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13050 = load ptr, ptr %v13049, !invariant.load !0
  %v13051 = getelementptr inbounds i8, ptr %v13050, i64 3981568
  %v13052 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13053 = load ptr, ptr %v13052, !invariant.load !0
  %v13054 = getelementptr inbounds i8, ptr %v13053, i64 3817472
  %v13055 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13056 = load ptr, ptr %v13055, !invariant.load !0
  %v13057 = getelementptr inbounds i8, ptr %v13056, i64 3031040
  %v13058 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13059 = load ptr, ptr %v13058, !invariant.load !0
  %v13060 = getelementptr inbounds i8, ptr %v13059, i64 1949696
  %v13061 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13062 = load ptr, ptr %v13061, !invariant.load !0
  %v13063 = getelementptr inbounds i8, ptr %v13062, i64 3211264
  %v13064 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13065 = load ptr, ptr %v13064, !invariant.load !0
  %v13066 = getelementptr inbounds i8, ptr %v13065, i64 4915200
  %v13067 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13068 = load ptr, ptr %v13067, !invariant.load !0
  %v13069 = getelementptr inbounds i8, ptr %v13068, i64 3309568
  %v13070 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13071 = load ptr, ptr %v13070, !invariant.load !0
  %v13072 = getelementptr inbounds i8, ptr %v13071, i64 3342336
  %v13073 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13074 = load ptr, ptr %v13073, !invariant.load !0
  %v13075 = getelementptr inbounds i8, ptr %v13074, i64 3375104
  %v13076 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13077 = load ptr, ptr %v13076, !invariant.load !0
  %v13078 = getelementptr inbounds i8, ptr %v13077, i64 3391488
  %v13079 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13080 = load ptr, ptr %v13079, !invariant.load !0
  %v13081 = getelementptr inbounds i8, ptr %v13080, i64 3407872
  call void @subtract_multiply_maximum_tanh_fusion(ptr %v13039, ptr %v13042, ptr %v13045, ptr %v13048, ptr %v13051, ptr %v13054, ptr %v13057, ptr %v13060, ptr %v13063, ptr %v13066, ptr %v13069, ptr %v13072, ptr %v13075, ptr %v13078, ptr %v13081)
  %v13082 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13083 = load ptr, ptr %v13082, !invariant.load !0
  %v13084 = getelementptr inbounds i8, ptr %v13083, i64 1638400
  %v13085 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13086 = load ptr, ptr %v13085, !invariant.load !0
  %v13087 = getelementptr inbounds i8, ptr %v13086, i64 802816
  %v13088 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13089 = load ptr, ptr %v13088, !invariant.load !0
  %v13090 = getelementptr inbounds i8, ptr %v13089, i64 4112384
  %v13091 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13092 = load ptr, ptr %v13091, !invariant.load !0
  %v13093 = getelementptr inbounds i8, ptr %v13092, i64 2752512
  %v13094 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13095 = load ptr, ptr %v13094, !invariant.load !0
  %v13096 = getelementptr inbounds i8, ptr %v13095, i64 3096576
  %v13097 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13098 = load ptr, ptr %v13097, !invariant.load !0
  %v13099 = getelementptr inbounds i8, ptr %v13098, i64 704512
  %v13100 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13101 = load ptr, ptr %v13100, !invariant.load !0
  %v13102 = getelementptr inbounds i8, ptr %v13101, i64 98304
  %v13103 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13104 = load ptr, ptr %v13103, !invariant.load !0
  %v13105 = getelementptr inbounds i8, ptr %v13104, i64 1998848
  %v13106 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13107 = load ptr, ptr %v13106, !invariant.load !0
  %v13108 = getelementptr inbounds i8, ptr %v13107, i64 5767168
  %v13109 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13110 = load ptr, ptr %v13109, !invariant.load !0
  %v13111 = getelementptr inbounds i8, ptr %v13110, i64 3424256
  %v13112 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13113 = load ptr, ptr %v13112, !invariant.load !0
  %v13114 = getelementptr inbounds i8, ptr %v13113, i64 3457024
  %v13115 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13116 = load ptr, ptr %v13115, !invariant.load !0
  %v13117 = getelementptr inbounds i8, ptr %v13116, i64 3538944
  %v13118 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13119 = load ptr, ptr %v13118, !invariant.load !0
  %v13120 = getelementptr inbounds i8, ptr %v13119, i64 3555328
  %v13121 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13122 = load ptr, ptr %v13121, !invariant.load !0
  %v13123 = getelementptr inbounds i8, ptr %v13122, i64 3604480
  call void @subtract_tanh_multiply_add_fusion(ptr %v13084, ptr %v13087, ptr %v13090, ptr %v13093, ptr %v13096, ptr %v13099, ptr %v13102, ptr %v13105, ptr %v13108, ptr %v13111, ptr %v13114, ptr %v13117, ptr %v13120, ptr %v13123)
  %v13124 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13125 = load ptr, ptr %v13124, !invariant.load !0
  %v13126 = getelementptr inbounds i8, ptr %v13125, i64 5193728
  %v13127 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13128 = load ptr, ptr %v13127, !invariant.load !0
  %v13129 = getelementptr inbounds i8, ptr %v13128, i64 589824
  %v13130 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13131 = load ptr, ptr %v13130, !invariant.load !0
  %v13132 = getelementptr inbounds i8, ptr %v13131, i64 1556480
  %v13133 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13134 = load ptr, ptr %v13133, !invariant.load !0
  %v13135 = getelementptr inbounds i8, ptr %v13134, i64 6520832
  %v13136 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13137 = load ptr, ptr %v13136, !invariant.load !0
  %v13138 = getelementptr inbounds i8, ptr %v13137, i64 163840
  %v13139 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13140 = load ptr, ptr %v13139, !invariant.load !0
  %v13141 = getelementptr inbounds i8, ptr %v13140, i64 1425408
  %v13142 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13143 = load ptr, ptr %v13142, !invariant.load !0
  %v13144 = getelementptr inbounds i8, ptr %v13143, i64 3407872
  %v13145 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13146 = load ptr, ptr %v13145, !invariant.load !0
  %v13147 = getelementptr inbounds i8, ptr %v13146, i64 4112384
  %v13148 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13149 = load ptr, ptr %v13148, !invariant.load !0
  %v13150 = getelementptr inbounds i8, ptr %v13149, i64 3276800
  %v13151 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13152 = load ptr, ptr %v13151, !invariant.load !0
  %v13153 = getelementptr inbounds i8, ptr %v13152, i64 3686400
  %v13154 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13155 = load ptr, ptr %v13154, !invariant.load !0
  %v13156 = getelementptr inbounds i8, ptr %v13155, i64 3702784
  %v13157 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13158 = load ptr, ptr %v13157, !invariant.load !0
  %v13159 = getelementptr inbounds i8, ptr %v13158, i64 3801088
  %v13160 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13161 = load ptr, ptr %v13160, !invariant.load !0
  %v13162 = getelementptr inbounds i8, ptr %v13161, i64 3833856
  %v13163 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13164 = load ptr, ptr %v13163, !invariant.load !0
  %v13165 = getelementptr inbounds i8, ptr %v13164, i64 3899392
  call void @multiply_subtract_minimum_add_fusion(ptr %v13126, ptr %v13129, ptr %v13132, ptr %v13135, ptr %v13138, ptr %v13141, ptr %v13144, ptr %v13147, ptr %v13150, ptr %v13153, ptr %v13156, ptr %v13159, ptr %v13162, ptr %v13165)
  %v13166 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13167 = load ptr, ptr %v13166, !invariant.load !0
  %v13168 = getelementptr inbounds i8, ptr %v13167, i64 4816896
  %v13169 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13170 = load ptr, ptr %v13169, !invariant.load !0
  %v13171 = getelementptr inbounds i8, ptr %v13170, i64 3358720
  %v13172 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13173 = load ptr, ptr %v13172, !invariant.load !0
  %v13174 = getelementptr inbounds i8, ptr %v13173, i64 5734400
  %v13175 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13176 = load ptr, ptr %v13175, !invariant.load !0
  %v13177 = getelementptr inbounds i8, ptr %v13176, i64 1966080
  %v13178 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13179 = load ptr, ptr %v13178, !invariant.load !0
  %v13180 = getelementptr inbounds i8, ptr %v13179, i64 1654784
  %v13181 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13182 = load ptr, ptr %v13181, !invariant.load !0
  %v13183 = getelementptr inbounds i8, ptr %v13182, i64 6504448
  %v13184 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13185 = load ptr, ptr %v13184, !invariant.load !0
  %v13186 = getelementptr inbounds i8, ptr %v13185, i64 4915200
  %v13187 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13188 = load ptr, ptr %v13187, !invariant.load !0
  %v13189 = getelementptr inbounds i8, ptr %v13188, i64 2228224
  %v13190 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13191 = load ptr, ptr %v13190, !invariant.load !0
  %v13192 = getelementptr inbounds i8, ptr %v13191, i64 3981312
  %v13193 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13194 = load ptr, ptr %v13193, !invariant.load !0
  %v13195 = getelementptr inbounds i8, ptr %v13194, i64 5193728
  %v13196 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13197 = load ptr, ptr %v13196, !invariant.load !0
  %v13198 = getelementptr inbounds i8, ptr %v13197, i64 2588672
  %v13199 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13200 = load ptr, ptr %v13199, !invariant.load !0
  %v13201 = getelementptr inbounds i8, ptr %v13200, i64 3801088
  %v13202 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13203 = load ptr, ptr %v13202, !invariant.load !0
  %v13204 = getelementptr inbounds i8, ptr %v13203, i64 3915776
  call void @add_tanh_minimum_maximum_fusion(ptr %v13168, ptr %v13171, ptr %v13174, ptr %v13177, ptr %v13180, ptr %v13183, ptr %v13186, ptr %v13189, ptr %v13192, ptr %v13195, ptr %v13198, ptr %v13201, ptr %v13204)
  %v13205 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13206 = load ptr, ptr %v13205, !invariant.load !0
  %v13207 = getelementptr inbounds i8, ptr %v13206, i64 458752
  %v13208 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13209 = load ptr, ptr %v13208, !invariant.load !0
  %v13210 = getelementptr inbounds i8, ptr %v13209, i64 3964928
  call void @wrapped_transpose_6(ptr %v13207, ptr %v13210)
  %v13211 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13212 = load ptr, ptr %v13211, !invariant.load !0
  %v13213 = getelementptr inbounds i8, ptr %v13212, i64 196608
  %v13214 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13215 = load ptr, ptr %v13214, !invariant.load !0
  %v13216 = getelementptr inbounds i8, ptr %v13215, i64 2768896
  %v13217 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13218 = load ptr, ptr %v13217, !invariant.load !0
  %v13219 = getelementptr inbounds i8, ptr %v13218, i64 3244032
  %v13220 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13221 = load ptr, ptr %v13220, !invariant.load !0
  %v13222 = getelementptr inbounds i8, ptr %v13221, i64 3866624
  %v13223 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13224 = load ptr, ptr %v13223, !invariant.load !0
  %v13225 = getelementptr inbounds i8, ptr %v13224, i64 1835008
  %v13226 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13227 = load ptr, ptr %v13226, !invariant.load !0
  %v13228 = getelementptr inbounds i8, ptr %v13227, i64 868352
  %v13229 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13230 = load ptr, ptr %v13229, !invariant.load !0
  %v13231 = getelementptr inbounds i8, ptr %v13230, i64 1556480
  %v13232 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13233 = load ptr, ptr %v13232, !invariant.load !0
  %v13234 = getelementptr inbounds i8, ptr %v13233, i64 2736128
  %v13235 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13236 = load ptr, ptr %v13235, !invariant.load !0
  %v13237 = getelementptr inbounds i8, ptr %v13236, i64 3981312
  %v13238 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13239 = load ptr, ptr %v13238, !invariant.load !0
  %v13240 = getelementptr inbounds i8, ptr %v13239, i64 3997696
  %v13241 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13242 = load ptr, ptr %v13241, !invariant.load !0
  %v13243 = getelementptr inbounds i8, ptr %v13242, i64 4046848
  call void @tanh_multiply_add_fusion_6(ptr %v13213, ptr %v13216, ptr %v13219, ptr %v13222, ptr %v13225, ptr %v13228, ptr %v13231, ptr %v13234, ptr %v13237, ptr %v13240, ptr %v13243)
  %v13244 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13245 = load ptr, ptr %v13244, !invariant.load !0
  %v13246 = getelementptr inbounds i8, ptr %v13245, i64 2424832
  %v13247 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13248 = load ptr, ptr %v13247, !invariant.load !0
  %v13249 = getelementptr inbounds i8, ptr %v13248, i64 737280
  %v13250 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13251 = load ptr, ptr %v13250, !invariant.load !0
  %v13252 = getelementptr inbounds i8, ptr %v13251, i64 819200
  %v13253 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13254 = load ptr, ptr %v13253, !invariant.load !0
  %v13255 = getelementptr inbounds i8, ptr %v13254, i64 1474560
  %v13256 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13257 = load ptr, ptr %v13256, !invariant.load !0
  %v13258 = getelementptr inbounds i8, ptr %v13257, i64 6062080
  %v13259 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13260 = load ptr, ptr %v13259, !invariant.load !0
  %v13261 = getelementptr inbounds i8, ptr %v13260, i64 6537216
  %v13262 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13263 = load ptr, ptr %v13262, !invariant.load !0
  %v13264 = getelementptr inbounds i8, ptr %v13263, i64 5259264
  %v13265 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13266 = load ptr, ptr %v13265, !invariant.load !0
  %v13267 = getelementptr inbounds i8, ptr %v13266, i64 770048
  %v13268 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13269 = load ptr, ptr %v13268, !invariant.load !0
  %v13270 = getelementptr inbounds i8, ptr %v13269, i64 6356992
  %v13271 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13272 = load ptr, ptr %v13271, !invariant.load !0
  %v13273 = getelementptr inbounds i8, ptr %v13272, i64 3211264
  %v13274 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13275 = load ptr, ptr %v13274, !invariant.load !0
  %v13276 = getelementptr inbounds i8, ptr %v13275, i64 5816320
  %v13277 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13278 = load ptr, ptr %v13277, !invariant.load !0
  %v13279 = getelementptr inbounds i8, ptr %v13278, i64 4129280
  %v13280 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13281 = load ptr, ptr %v13280, !invariant.load !0
  %v13282 = getelementptr inbounds i8, ptr %v13281, i64 5963776
  %v13283 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13284 = load ptr, ptr %v13283, !invariant.load !0
  %v13285 = getelementptr inbounds i8, ptr %v13284, i64 2015232
  %v13286 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13287 = load ptr, ptr %v13286, !invariant.load !0
  %v13288 = getelementptr inbounds i8, ptr %v13287, i64 3964928
  %v13289 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13290 = load ptr, ptr %v13289, !invariant.load !0
  %v13291 = getelementptr inbounds i8, ptr %v13290, i64 1294336
  %v13292 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13293 = load ptr, ptr %v13292, !invariant.load !0
  %v13294 = getelementptr inbounds i8, ptr %v13293, i64 6520832
  %v13295 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13296 = load ptr, ptr %v13295, !invariant.load !0
  %v13297 = getelementptr inbounds i8, ptr %v13296, i64 4129024
  %v13298 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13299 = load ptr, ptr %v13298, !invariant.load !0
  %v13300 = getelementptr inbounds i8, ptr %v13299, i64 6127616
  %v13301 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13302 = load ptr, ptr %v13301, !invariant.load !0
  %v13303 = getelementptr inbounds i8, ptr %v13302, i64 3473408
  %v13304 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13305 = load ptr, ptr %v13304, !invariant.load !0
  %v13306 = getelementptr inbounds i8, ptr %v13305, i64 1048576
  %v13307 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13308 = load ptr, ptr %v13307, !invariant.load !0
  %v13309 = getelementptr inbounds i8, ptr %v13308, i64 4472832
  %v13310 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13311 = load ptr, ptr %v13310, !invariant.load !0
  %v13312 = getelementptr inbounds i8, ptr %v13311, i64 131072
  %v13313 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13314 = load ptr, ptr %v13313, !invariant.load !0
  %v13315 = getelementptr inbounds i8, ptr %v13314, i64 2195456
  %v13316 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13317 = load ptr, ptr %v13316, !invariant.load !0
  %v13318 = getelementptr inbounds i8, ptr %v13317, i64 6553600
  %v13319 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13320 = load ptr, ptr %v13319, !invariant.load !0
  %v13321 = getelementptr inbounds i8, ptr %v13320, i64 376832
  %v13322 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13323 = load ptr, ptr %v13322, !invariant.load !0
  %v13324 = getelementptr inbounds i8, ptr %v13323, i64 3440640
  %v13325 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13326 = load ptr, ptr %v13325, !invariant.load !0
  %v13327 = getelementptr inbounds i8, ptr %v13326, i64 1310720
  %v13328 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13329 = load ptr, ptr %v13328, !invariant.load !0
  %v13330 = getelementptr inbounds i8, ptr %v13329, i64 1343488
  %v13331 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13332 = load ptr, ptr %v13331, !invariant.load !0
  %v13333 = getelementptr inbounds i8, ptr %v13332, i64 180224
  %v13334 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13335 = load ptr, ptr %v13334, !invariant.load !0
  %v13336 = getelementptr inbounds i8, ptr %v13335, i64 753664
  %v13337 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13338 = load ptr, ptr %v13337, !invariant.load !0
  %v13339 = getelementptr inbounds i8, ptr %v13338, i64 4128768
  %v13340 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13341 = load ptr, ptr %v13340, !invariant.load !0
  %v13342 = getelementptr inbounds i8, ptr %v13341, i64 2621440
  %v13343 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13344 = load ptr, ptr %v13343, !invariant.load !0
  %v13345 = getelementptr inbounds i8, ptr %v13344, i64 1622016
  %v13346 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13347 = load ptr, ptr %v13346, !invariant.load !0
  %v13348 = getelementptr inbounds i8, ptr %v13347, i64 1490944
  %v13349 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13350 = load ptr, ptr %v13349, !invariant.load !0
  %v13351 = getelementptr inbounds i8, ptr %v13350, i64 2064384
  %v13352 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13353 = load ptr, ptr %v13352, !invariant.load !0
  %v13354 = getelementptr inbounds i8, ptr %v13353, i64 6619136
  %v13355 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13356 = load ptr, ptr %v13355, !invariant.load !0
  %v13357 = getelementptr inbounds i8, ptr %v13356, i64 196608
  %v13358 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13359 = load ptr, ptr %v13358, !invariant.load !0
  %v13360 = getelementptr inbounds i8, ptr %v13359, i64 2031616
  %v13361 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13362 = load ptr, ptr %v13361, !invariant.load !0
  %v13363 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13364 = load ptr, ptr %v13363, !invariant.load !0
  %v13365 = getelementptr inbounds i8, ptr %v13364, i64 3325952
  %v13366 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13367 = load ptr, ptr %v13366, !invariant.load !0
  %v13368 = getelementptr inbounds i8, ptr %v13367, i64 3014656
  %v13369 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13370 = load ptr, ptr %v13369, !invariant.load !0
  %v13371 = getelementptr inbounds i8, ptr %v13370, i64 5619712
  %v13372 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13373 = load ptr, ptr %v13372, !invariant.load !0
  %v13374 = getelementptr inbounds i8, ptr %v13373, i64 2523136
  %v13375 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13376 = load ptr, ptr %v13375, !invariant.load !0
  %v13377 = getelementptr inbounds i8, ptr %v13376, i64 360448
  %v13378 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13379 = load ptr, ptr %v13378, !invariant.load !0
  %v13380 = getelementptr inbounds i8, ptr %v13379, i64 6406144
  %v13381 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13382 = load ptr, ptr %v13381, !invariant.load !0
  %v13383 = getelementptr inbounds i8, ptr %v13382, i64 4767744
  %v13384 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13385 = load ptr, ptr %v13384, !invariant.load !0
  %v13386 = getelementptr inbounds i8, ptr %v13385, i64 294912
  %v13387 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13388 = load ptr, ptr %v13387, !invariant.load !0
  %v13389 = getelementptr inbounds i8, ptr %v13388, i64 6635520
  %v13390 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13391 = load ptr, ptr %v13390, !invariant.load !0
  %v13392 = getelementptr inbounds i8, ptr %v13391, i64 5996544
  %v13393 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13394 = load ptr, ptr %v13393, !invariant.load !0
  %v13395 = getelementptr inbounds i8, ptr %v13394, i64 688128
  %v13396 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13397 = load ptr, ptr %v13396, !invariant.load !0
  %v13398 = getelementptr inbounds i8, ptr %v13397, i64 4816896
  %v13399 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13400 = load ptr, ptr %v13399, !invariant.load !0
  %v13401 = getelementptr inbounds i8, ptr %v13400, i64 5505024
  %v13402 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13403 = load ptr, ptr %v13402, !invariant.load !0
  %v13404 = getelementptr inbounds i8, ptr %v13403, i64 4784128
  %v13405 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13406 = load ptr, ptr %v13405, !invariant.load !0
  %v13407 = getelementptr inbounds i8, ptr %v13406, i64 344064
  %v13408 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13409 = load ptr, ptr %v13408, !invariant.load !0
  %v13410 = getelementptr inbounds i8, ptr %v13409, i64 2867200
  %v13411 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13412 = load ptr, ptr %v13411, !invariant.load !0
  %v13413 = getelementptr inbounds i8, ptr %v13412, i64 2637824
  %v13414 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13415 = load ptr, ptr %v13414, !invariant.load !0
  %v13416 = getelementptr inbounds i8, ptr %v13415, i64 6569984
  %v13417 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13418 = load ptr, ptr %v13417, !invariant.load !0
  %v13419 = getelementptr inbounds i8, ptr %v13418, i64 393216
  %v13420 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13421 = load ptr, ptr %v13420, !invariant.load !0
  %v13422 = getelementptr inbounds i8, ptr %v13421, i64 1589248
  %v13423 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13424 = load ptr, ptr %v13423, !invariant.load !0
  %v13425 = getelementptr inbounds i8, ptr %v13424, i64 933888
  %v13426 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13427 = load ptr, ptr %v13426, !invariant.load !0
  %v13428 = getelementptr inbounds i8, ptr %v13427, i64 5832704
  %v13430 = getelementptr inbounds ptr, ptr %slot13429, i64 0
  store ptr %v13246, ptr %v13430, align 8
  %v13431 = getelementptr inbounds ptr, ptr %slot13429, i64 1
  store ptr %v13249, ptr %v13431, align 8
  %v13432 = getelementptr inbounds ptr, ptr %slot13429, i64 2
  store ptr %v13252, ptr %v13432, align 8
  %v13433 = getelementptr inbounds ptr, ptr %slot13429, i64 3
  store ptr %v13255, ptr %v13433, align 8
  %v13434 = getelementptr inbounds ptr, ptr %slot13429, i64 4
  store ptr %v13258, ptr %v13434, align 8
  %v13435 = getelementptr inbounds ptr, ptr %slot13429, i64 5
  store ptr %v13261, ptr %v13435, align 8
  %v13436 = getelementptr inbounds ptr, ptr %slot13429, i64 6
  store ptr %v13264, ptr %v13436, align 8
  %v13437 = getelementptr inbounds ptr, ptr %slot13429, i64 7
  store ptr %v13267, ptr %v13437, align 8
  %v13438 = getelementptr inbounds ptr, ptr %slot13429, i64 8
  store ptr %v13270, ptr %v13438, align 8
  %v13439 = getelementptr inbounds ptr, ptr %slot13429, i64 9
  store ptr %v13273, ptr %v13439, align 8
  %v13440 = getelementptr inbounds ptr, ptr %slot13429, i64 10
  store ptr %v13276, ptr %v13440, align 8
  %v13441 = getelementptr inbounds ptr, ptr %slot13429, i64 11
  store ptr %v13279, ptr %v13441, align 8
  %v13442 = getelementptr inbounds ptr, ptr %slot13429, i64 12
  store ptr %v13282, ptr %v13442, align 8
  %v13443 = getelementptr inbounds ptr, ptr %slot13429, i64 13
  store ptr %v13285, ptr %v13443, align 8
  %v13444 = getelementptr inbounds ptr, ptr %slot13429, i64 14
  store ptr %v13288, ptr %v13444, align 8
  %v13445 = getelementptr inbounds ptr, ptr %slot13429, i64 15
  store ptr %v13291, ptr %v13445, align 8
  %v13446 = getelementptr inbounds ptr, ptr %slot13429, i64 16
  store ptr %v13294, ptr %v13446, align 8
  %v13447 = getelementptr inbounds ptr, ptr %slot13429, i64 17
  store ptr %v13297, ptr %v13447, align 8
  %v13448 = getelementptr inbounds ptr, ptr %slot13429, i64 18
  store ptr %v13300, ptr %v13448, align 8
  %v13449 = getelementptr inbounds ptr, ptr %slot13429, i64 19
  store ptr %v13303, ptr %v13449, align 8
  %v13450 = getelementptr inbounds ptr, ptr %slot13429, i64 20
  store ptr %v13306, ptr %v13450, align 8
  %v13451 = getelementptr inbounds ptr, ptr %slot13429, i64 21
  store ptr %v13309, ptr %v13451, align 8
  %v13452 = getelementptr inbounds ptr, ptr %slot13429, i64 22
  store ptr %v13312, ptr %v13452, align 8
  %v13453 = getelementptr inbounds ptr, ptr %slot13429, i64 23
  store ptr %v13315, ptr %v13453, align 8
  %v13454 = getelementptr inbounds ptr, ptr %slot13429, i64 24
  store ptr %v13318, ptr %v13454, align 8
  %v13455 = getelementptr inbounds ptr, ptr %slot13429, i64 25
  store ptr %v13321, ptr %v13455, align 8
  %v13456 = getelementptr inbounds ptr, ptr %slot13429, i64 26
  store ptr %v13324, ptr %v13456, align 8
  %v13457 = getelementptr inbounds ptr, ptr %slot13429, i64 27
  store ptr %v13327, ptr %v13457, align 8
  %v13458 = getelementptr inbounds ptr, ptr %slot13429, i64 28
  store ptr %v13330, ptr %v13458, align 8
  %v13459 = getelementptr inbounds ptr, ptr %slot13429, i64 29
  store ptr %v13333, ptr %v13459, align 8
  %v13460 = getelementptr inbounds ptr, ptr %slot13429, i64 30
  store ptr %v13336, ptr %v13460, align 8
  %v13461 = getelementptr inbounds ptr, ptr %slot13429, i64 31
  store ptr %v13339, ptr %v13461, align 8
  %v13462 = getelementptr inbounds ptr, ptr %slot13429, i64 32
  store ptr %v13342, ptr %v13462, align 8
  %v13463 = getelementptr inbounds ptr, ptr %slot13429, i64 33
  store ptr %v13345, ptr %v13463, align 8
  %v13464 = getelementptr inbounds ptr, ptr %slot13429, i64 34
  store ptr %v13348, ptr %v13464, align 8
  %v13465 = getelementptr inbounds ptr, ptr %slot13429, i64 35
  store ptr %v13351, ptr %v13465, align 8
  %v13466 = getelementptr inbounds ptr, ptr %slot13429, i64 36
  store ptr %v13354, ptr %v13466, align 8
  %v13467 = getelementptr inbounds ptr, ptr %slot13429, i64 37
  store ptr %v13357, ptr %v13467, align 8
  %v13468 = getelementptr inbounds ptr, ptr %slot13429, i64 38
  store ptr %v13360, ptr %v13468, align 8
  %v13469 = getelementptr inbounds ptr, ptr %slot13429, i64 39
  store ptr %v13362, ptr %v13469, align 8
  %v13470 = getelementptr inbounds ptr, ptr %slot13429, i64 40
  store ptr %v13365, ptr %v13470, align 8
  %v13471 = getelementptr inbounds ptr, ptr %slot13429, i64 41
  store ptr %v13368, ptr %v13471, align 8
  %v13472 = getelementptr inbounds ptr, ptr %slot13429, i64 42
  store ptr %v13371, ptr %v13472, align 8
  %v13473 = getelementptr inbounds ptr, ptr %slot13429, i64 43
  store ptr %v13374, ptr %v13473, align 8
  %v13474 = getelementptr inbounds ptr, ptr %slot13429, i64 44
  store ptr %v13377, ptr %v13474, align 8
  %v13475 = getelementptr inbounds ptr, ptr %slot13429, i64 45
  store ptr %v13380, ptr %v13475, align 8
  %v13476 = getelementptr inbounds ptr, ptr %slot13429, i64 46
  store ptr %v13383, ptr %v13476, align 8
  %v13477 = getelementptr inbounds ptr, ptr %slot13429, i64 47
  store ptr %v13386, ptr %v13477, align 8
  %v13478 = getelementptr inbounds ptr, ptr %slot13429, i64 48
  store ptr %v13389, ptr %v13478, align 8
  %v13479 = getelementptr inbounds ptr, ptr %slot13429, i64 49
  store ptr %v13392, ptr %v13479, align 8
  %v13480 = getelementptr inbounds ptr, ptr %slot13429, i64 50
  store ptr %v13395, ptr %v13480, align 8
  %v13481 = getelementptr inbounds ptr, ptr %slot13429, i64 51
  store ptr %v13398, ptr %v13481, align 8
  %v13482 = getelementptr inbounds ptr, ptr %slot13429, i64 52
  store ptr %v13401, ptr %v13482, align 8
  %v13483 = getelementptr inbounds ptr, ptr %slot13429, i64 53
  store ptr %v13404, ptr %v13483, align 8
  %v13484 = getelementptr inbounds ptr, ptr %slot13429, i64 54
  store ptr %v13407, ptr %v13484, align 8
  %v13485 = getelementptr inbounds ptr, ptr %slot13429, i64 55
  store ptr %v13410, ptr %v13485, align 8
  %v13486 = getelementptr inbounds ptr, ptr %slot13429, i64 56
  store ptr %v13413, ptr %v13486, align 8
  %v13487 = getelementptr inbounds ptr, ptr %slot13429, i64 57
  store ptr %v13416, ptr %v13487, align 8
  %v13488 = getelementptr inbounds ptr, ptr %slot13429, i64 58
  store ptr %v13419, ptr %v13488, align 8
  %v13489 = getelementptr inbounds ptr, ptr %slot13429, i64 59
  store ptr %v13422, ptr %v13489, align 8
  %v13490 = getelementptr inbounds ptr, ptr %slot13429, i64 60
  store ptr %v13425, ptr %v13490, align 8
  %v13491 = getelementptr inbounds ptr, ptr %slot13429, i64 61
  store ptr %v13428, ptr %v13491, align 8
  call void @xla_explorer_parallel_for(ptr @subtract_multiply_add_fusion_11_task, ptr %slot13429, i64 4)
  %v13492 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13493 = load ptr, ptr %v13492, !invariant.load !0
  %v13494 = getelementptr inbounds i8, ptr %v13493, i64 3358720
  %v13495 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13496 = load ptr, ptr %v13495, !invariant.load !0
  %v13497 = getelementptr inbounds i8, ptr %v13496, i64 933888
  call void @reduce_fusion_110(ptr %v13494, ptr %v13497)
  %v13498 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13499 = load ptr, ptr %v13498, !invariant.load !0
  %v13500 = getelementptr inbounds i8, ptr %v13499, i64 1212416
  %v13501 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13502 = load ptr, ptr %v13501, !invariant.load !0
  %v13503 = getelementptr inbounds i8, ptr %v13502, i64 6193152
  %v13504 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13505 = load ptr, ptr %v13504, !invariant.load !0
  %v13506 = getelementptr inbounds i8, ptr %v13505, i64 1228800
  %v13507 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13508 = load ptr, ptr %v13507, !invariant.load !0
  %v13509 = getelementptr inbounds i8, ptr %v13508, i64 934144
  call void @add_multiply_reduce_fusion_3(ptr %v13500, ptr %v13503, ptr %v13506, ptr %v13509)
  %v13510 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13511 = load ptr, ptr %v13510, !invariant.load !0
  %v13512 = getelementptr inbounds i8, ptr %v13511, i64 933888
  call void @wrapped_tanh_540(ptr %v13512)
  %v13513 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13514 = load ptr, ptr %v13513, !invariant.load !0
  %v13515 = getelementptr inbounds i8, ptr %v13514, i64 934144
  call void @wrapped_tanh_540(ptr %v13515)
  %v13516 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13517 = load ptr, ptr %v13516, !invariant.load !0
  %v13518 = getelementptr inbounds i8, ptr %v13517, i64 3096576
  %v13519 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13520 = load ptr, ptr %v13519, !invariant.load !0
  %v13521 = getelementptr inbounds i8, ptr %v13520, i64 934400
  call void @reduce_fusion_110(ptr %v13518, ptr %v13521)
  %v13522 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13523 = load ptr, ptr %v13522, !invariant.load !0
  %v13524 = getelementptr inbounds i8, ptr %v13523, i64 934400
  call void @wrapped_tanh_540(ptr %v13524)
  %v13525 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13526 = load ptr, ptr %v13525, !invariant.load !0
  %v13527 = getelementptr inbounds i8, ptr %v13526, i64 2998272
  %v13528 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13529 = load ptr, ptr %v13528, !invariant.load !0
  %v13530 = getelementptr inbounds i8, ptr %v13529, i64 5210112
  %v13531 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13532 = load ptr, ptr %v13531, !invariant.load !0
  %v13533 = getelementptr inbounds i8, ptr %v13532, i64 131072
  call void @d73(ptr %v13527, ptr %v13530, ptr %v13533)
  %v13534 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13535 = load ptr, ptr %v13534, !invariant.load !0
  %v13536 = getelementptr inbounds i8, ptr %v13535, i64 131072
  call void @multiply_tanh_fusion_124(ptr %v13536)
  %v13537 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13538 = load ptr, ptr %v13537, !invariant.load !0
  %v13539 = getelementptr inbounds i8, ptr %v13538, i64 4620288
  %v13540 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13541 = load ptr, ptr %v13540, !invariant.load !0
  %v13542 = getelementptr inbounds i8, ptr %v13541, i64 753664
  %v13543 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13544 = load ptr, ptr %v13543, !invariant.load !0
  %v13545 = getelementptr inbounds i8, ptr %v13544, i64 196608
  call void @d73(ptr %v13539, ptr %v13542, ptr %v13545)
  %v13546 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13547 = load ptr, ptr %v13546, !invariant.load !0
  %v13548 = getelementptr inbounds i8, ptr %v13547, i64 196608
  %v13549 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13550 = load ptr, ptr %v13549, !invariant.load !0
  %v13551 = getelementptr inbounds i8, ptr %v13550, i64 851968
  %v13552 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13553 = load ptr, ptr %v13552, !invariant.load !0
  %v13554 = getelementptr inbounds i8, ptr %v13553, i64 3047424
  %v13555 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13556 = load ptr, ptr %v13555, !invariant.load !0
  %v13557 = getelementptr inbounds i8, ptr %v13556, i64 6438912
  %v13558 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13559 = load ptr, ptr %v13558, !invariant.load !0
  %v13560 = getelementptr inbounds i8, ptr %v13559, i64 6488064
  %v13561 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13562 = load ptr, ptr %v13561, !invariant.load !0
  %v13563 = getelementptr inbounds i8, ptr %v13562, i64 5816320
  %v13564 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13565 = load ptr, ptr %v13564, !invariant.load !0
  %v13566 = getelementptr inbounds i8, ptr %v13565, i64 6471680
  %v13567 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13568 = load ptr, ptr %v13567, !invariant.load !0
  %v13569 = getelementptr inbounds i8, ptr %v13568, i64 1359872
  %v13570 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13571 = load ptr, ptr %v13570, !invariant.load !0
  %v13572 = getelementptr inbounds i8, ptr %v13571, i64 294912
  %v13573 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13574 = load ptr, ptr %v13573, !invariant.load !0
  %v13575 = getelementptr inbounds i8, ptr %v13574, i64 344064
  %v13576 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v13577 = load ptr, ptr %v13576, !invariant.load !0
  %v13578 = getelementptr inbounds i8, ptr %v13577, i64 360448
  call void @tanh_multiply_minimum_add_fusion(ptr %v13548, ptr %v13551, ptr %v13554, ptr %v13557, ptr %v13560, ptr %v13563, ptr %v13566, ptr %v13569, ptr %v13572, ptr %v13575, ptr %v13578)
  ret i32 0
}

define hidden i32 @xe_entry_part16(ptr noalias %arguments) nounwind optnone noinline "optimization-level"="final" {
entry:
  %slot16372 = alloca ptr, i64 64, align 64
  %v15413 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15414 = load ptr, ptr %v15413, !invariant.load !0
  %v15415 = getelementptr inbounds i8, ptr %v15414, i64 720896
  %v15416 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15417 = load ptr, ptr %v15416, !invariant.load !0
  %v15418 = getelementptr inbounds i8, ptr %v15417, i64 1802240
  %v15419 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15420 = load ptr, ptr %v15419, !invariant.load !0
  %v15421 = getelementptr inbounds i8, ptr %v15420, i64 1277952
  %v15422 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15423 = load ptr, ptr %v15422, !invariant.load !0
  %v15424 = getelementptr inbounds i8, ptr %v15423, i64 393216
  %v15425 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15426 = load ptr, ptr %v15425, !invariant.load !0
  %v15427 = getelementptr inbounds i8, ptr %v15426, i64 6258688
  %v15428 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15429 = load ptr, ptr %v15428, !invariant.load !0
  %v15430 = getelementptr inbounds i8, ptr %v15429, i64 6062080
  %v15431 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15432 = load ptr, ptr %v15431, !invariant.load !0
  %v15433 = getelementptr inbounds i8, ptr %v15432, i64 3899392
  %v15434 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15435 = load ptr, ptr %v15434, !invariant.load !0
  %v15436 = getelementptr inbounds i8, ptr %v15435, i64 4063232
  %v15437 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15438 = load ptr, ptr %v15437, !invariant.load !0
  %v15439 = getelementptr inbounds i8, ptr %v15438, i64 2244608
  %v15440 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15441 = load ptr, ptr %v15440, !invariant.load !0
  %v15442 = getelementptr inbounds i8, ptr %v15441, i64 2883584
  %v15443 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15444 = load ptr, ptr %v15443, !invariant.load !0
  %v15445 = getelementptr inbounds i8, ptr %v15444, i64 2916352
  call void @maximum_tanh_multiply_fusion_1(ptr %v15415, ptr %v15418, ptr %v15421, ptr %v15424, ptr %v15427, ptr %v15430, ptr %v15433, ptr %v15436, ptr %v15439, ptr %v15442, ptr %v15445)
  %v15446 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15447 = load ptr, ptr %v15446, !invariant.load !0
  %v15448 = getelementptr inbounds i8, ptr %v15447, i64 1277952
  %v15449 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15450 = load ptr, ptr %v15449, !invariant.load !0
  %v15451 = getelementptr inbounds i8, ptr %v15450, i64 3014656
  call void @wrapped_transpose_6(ptr %v15448, ptr %v15451)
  %v15452 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15453 = load ptr, ptr %v15452, !invariant.load !0
  %v15454 = getelementptr inbounds i8, ptr %v15453, i64 65536
  %v15455 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15456 = load ptr, ptr %v15455, !invariant.load !0
  %v15457 = getelementptr inbounds i8, ptr %v15456, i64 2752512
  %v15458 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15459 = load ptr, ptr %v15458, !invariant.load !0
  %v15460 = getelementptr inbounds i8, ptr %v15459, i64 1212416
  %v15461 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15462 = load ptr, ptr %v15461, !invariant.load !0
  %v15463 = getelementptr inbounds i8, ptr %v15462, i64 2654208
  %v15464 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15465 = load ptr, ptr %v15464, !invariant.load !0
  %v15466 = getelementptr inbounds i8, ptr %v15465, i64 6324224
  %v15467 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15468 = load ptr, ptr %v15467, !invariant.load !0
  %v15469 = getelementptr inbounds i8, ptr %v15468, i64 4915968
  %v15470 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15471 = load ptr, ptr %v15470, !invariant.load !0
  %v15472 = getelementptr inbounds i8, ptr %v15471, i64 884736
  %v15473 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15474 = load ptr, ptr %v15473, !invariant.load !0
  %v15475 = getelementptr inbounds i8, ptr %v15474, i64 688128
  %v15476 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15477 = load ptr, ptr %v15476, !invariant.load !0
  %v15478 = getelementptr inbounds i8, ptr %v15477, i64 3719168
  %v15479 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15480 = load ptr, ptr %v15479, !invariant.load !0
  %v15481 = getelementptr inbounds i8, ptr %v15480, i64 3014656
  %v15482 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15483 = load ptr, ptr %v15482, !invariant.load !0
  %v15484 = getelementptr inbounds i8, ptr %v15483, i64 376832
  %v15485 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15486 = load ptr, ptr %v15485, !invariant.load !0
  %v15487 = getelementptr inbounds i8, ptr %v15486, i64 163840
  %v15488 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15489 = load ptr, ptr %v15488, !invariant.load !0
  %v15490 = getelementptr inbounds i8, ptr %v15489, i64 3096576
  %v15491 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15492 = load ptr, ptr %v15491, !invariant.load !0
  %v15493 = getelementptr inbounds i8, ptr %v15492, i64 1277952
  %v15494 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15495 = load ptr, ptr %v15494, !invariant.load !0
  %v15496 = getelementptr inbounds i8, ptr %v15495, i64 3047424
  call void @subtract_multiply_add_maximum_fusion(ptr %v15454, ptr %v15457, ptr %v15460, ptr %v15463, ptr %v15466, ptr %v15469, ptr %v15472, ptr %v15475, ptr %v15478, ptr %v15481, ptr %v15484, ptr %v15487, ptr %v15490, ptr %v15493, ptr %v15496)
  %v15497 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15498 = load ptr, ptr %v15497, !invariant.load !0
  %v15499 = getelementptr inbounds i8, ptr %v15498, i64 1409024
  %v15500 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15501 = load ptr, ptr %v15500, !invariant.load !0
  %v15502 = getelementptr inbounds i8, ptr %v15501, i64 2998272
  %v15503 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15504 = load ptr, ptr %v15503, !invariant.load !0
  %v15505 = getelementptr inbounds i8, ptr %v15504, i64 2113536
  %v15506 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15507 = load ptr, ptr %v15506, !invariant.load !0
  %v15508 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15509 = load ptr, ptr %v15508, !invariant.load !0
  %v15510 = getelementptr inbounds i8, ptr %v15509, i64 3047424
  %v15511 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15512 = load ptr, ptr %v15511, !invariant.load !0
  %v15513 = getelementptr inbounds i8, ptr %v15512, i64 262144
  %v15514 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15515 = load ptr, ptr %v15514, !invariant.load !0
  %v15516 = getelementptr inbounds i8, ptr %v15515, i64 720896
  %v15517 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15518 = load ptr, ptr %v15517, !invariant.load !0
  %v15519 = getelementptr inbounds i8, ptr %v15518, i64 819200
  %v15520 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15521 = load ptr, ptr %v15520, !invariant.load !0
  %v15522 = getelementptr inbounds i8, ptr %v15521, i64 491520
  %v15523 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15524 = load ptr, ptr %v15523, !invariant.load !0
  %v15525 = getelementptr inbounds i8, ptr %v15524, i64 1589248
  %v15526 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15527 = load ptr, ptr %v15526, !invariant.load !0
  %v15528 = getelementptr inbounds i8, ptr %v15527, i64 1179648
  %v15529 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15530 = load ptr, ptr %v15529, !invariant.load !0
  %v15531 = getelementptr inbounds i8, ptr %v15530, i64 2260992
  %v15532 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15533 = load ptr, ptr %v15532, !invariant.load !0
  %v15534 = getelementptr inbounds i8, ptr %v15533, i64 3096576
  call void @tanh_multiply_minimum_subtract_fusion_3(ptr %v15499, ptr %v15502, ptr %v15505, ptr %v15507, ptr %v15510, ptr %v15513, ptr %v15516, ptr %v15519, ptr %v15522, ptr %v15525, ptr %v15528, ptr %v15531, ptr %v15534)
  %v15535 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15536 = load ptr, ptr %v15535, !invariant.load !0
  %v15537 = getelementptr inbounds i8, ptr %v15536, i64 1605632
  %v15538 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15539 = load ptr, ptr %v15538, !invariant.load !0
  %v15540 = getelementptr inbounds i8, ptr %v15539, i64 3751936
  %v15541 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15542 = load ptr, ptr %v15541, !invariant.load !0
  %v15543 = getelementptr inbounds i8, ptr %v15542, i64 966656
  %v15544 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15545 = load ptr, ptr %v15544, !invariant.load !0
  %v15546 = getelementptr inbounds i8, ptr %v15545, i64 3702784
  %v15547 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15548 = load ptr, ptr %v15547, !invariant.load !0
  %v15549 = getelementptr inbounds i8, ptr %v15548, i64 3506176
  %v15550 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15551 = load ptr, ptr %v15550, !invariant.load !0
  %v15552 = getelementptr inbounds i8, ptr %v15551, i64 3653632
  %v15553 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15554 = load ptr, ptr %v15553, !invariant.load !0
  %v15555 = getelementptr inbounds i8, ptr %v15554, i64 1425408
  %v15556 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15557 = load ptr, ptr %v15556, !invariant.load !0
  %v15558 = getelementptr inbounds i8, ptr %v15557, i64 868352
  %v15559 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15560 = load ptr, ptr %v15559, !invariant.load !0
  %v15561 = getelementptr inbounds i8, ptr %v15560, i64 6258688
  %v15562 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15563 = load ptr, ptr %v15562, !invariant.load !0
  %v15564 = getelementptr inbounds i8, ptr %v15563, i64 3244032
  %v15565 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15566 = load ptr, ptr %v15565, !invariant.load !0
  %v15567 = getelementptr inbounds i8, ptr %v15566, i64 3309568
  %v15568 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15569 = load ptr, ptr %v15568, !invariant.load !0
  %v15570 = getelementptr inbounds i8, ptr %v15569, i64 3325952
  %v15571 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15572 = load ptr, ptr %v15571, !invariant.load !0
  %v15573 = getelementptr inbounds i8, ptr %v15572, i64 3358720
  %v15574 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15575 = load ptr, ptr %v15574, !invariant.load !0
  %v15576 = getelementptr inbounds i8, ptr %v15575, i64 3424256
  %v15577 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15578 = load ptr, ptr %v15577, !invariant.load !0
  %v15579 = getelementptr inbounds i8, ptr %v15578, i64 3440640
  %v15580 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15581 = load ptr, ptr %v15580, !invariant.load !0
  %v15582 = getelementptr inbounds i8, ptr %v15581, i64 3473408
  call void @tanh_multiply_maximum_subtract_fusion_4(ptr %v15537, ptr %v15540, ptr %v15543, ptr %v15546, ptr %v15549, ptr %v15552, ptr %v15555, ptr %v15558, ptr %v15561, ptr %v15564, ptr %v15567, ptr %v15570, ptr %v15573, ptr %v15576, ptr %v15579, ptr %v15582)
  %v15583 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15584 = load ptr, ptr %v15583, !invariant.load !0
  %v15585 = getelementptr inbounds i8, ptr %v15584, i64 1572864
  %v15586 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15587 = load ptr, ptr %v15586, !invariant.load !0
  %v15588 = getelementptr inbounds i8, ptr %v15587, i64 770048
  %v15589 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15590 = load ptr, ptr %v15589, !invariant.load !0
  %v15591 = getelementptr inbounds i8, ptr %v15590, i64 3604480
  %v15592 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15593 = load ptr, ptr %v15592, !invariant.load !0
  %v15594 = getelementptr inbounds i8, ptr %v15593, i64 1376256
  %v15595 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15596 = load ptr, ptr %v15595, !invariant.load !0
  %v15597 = getelementptr inbounds i8, ptr %v15596, i64 3571712
  %v15598 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15599 = load ptr, ptr %v15598, !invariant.load !0
  %v15600 = getelementptr inbounds i8, ptr %v15599, i64 3309568
  %v15601 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15602 = load ptr, ptr %v15601, !invariant.load !0
  %v15603 = getelementptr inbounds i8, ptr %v15602, i64 1245184
  %v15604 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15605 = load ptr, ptr %v15604, !invariant.load !0
  %v15606 = getelementptr inbounds i8, ptr %v15605, i64 2146304
  %v15607 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15608 = load ptr, ptr %v15607, !invariant.load !0
  %v15609 = getelementptr inbounds i8, ptr %v15608, i64 3276800
  %v15610 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15611 = load ptr, ptr %v15610, !invariant.load !0
  %v15612 = getelementptr inbounds i8, ptr %v15611, i64 1441792
  %v15613 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15614 = load ptr, ptr %v15613, !invariant.load !0
  %v15615 = getelementptr inbounds i8, ptr %v15614, i64 3506176
  %v15616 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15617 = load ptr, ptr %v15616, !invariant.load !0
  %v15618 = getelementptr inbounds i8, ptr %v15617, i64 3588096
  %v15619 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15620 = load ptr, ptr %v15619, !invariant.load !0
  %v15621 = getelementptr inbounds i8, ptr %v15620, i64 4079616
  %v15622 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15623 = load ptr, ptr %v15622, !invariant.load !0
  %v15624 = getelementptr inbounds i8, ptr %v15623, i64 4096000
  %v15625 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15626 = load ptr, ptr %v15625, !invariant.load !0
  %v15627 = getelementptr inbounds i8, ptr %v15626, i64 4128768
  call void @multiply_maximum_minimum_fusion_8(ptr %v15585, ptr %v15588, ptr %v15591, ptr %v15594, ptr %v15597, ptr %v15600, ptr %v15603, ptr %v15606, ptr %v15609, ptr %v15612, ptr %v15615, ptr %v15618, ptr %v15621, ptr %v15624, ptr %v15627)
  %v15628 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15629 = load ptr, ptr %v15628, !invariant.load !0
  %v15630 = getelementptr inbounds i8, ptr %v15629, i64 1294336
  %v15631 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15632 = load ptr, ptr %v15631, !invariant.load !0
  %v15633 = getelementptr inbounds i8, ptr %v15632, i64 4917248
  %v15634 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15635 = load ptr, ptr %v15634, !invariant.load !0
  %v15636 = getelementptr inbounds i8, ptr %v15635, i64 1015808
  %v15637 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15638 = load ptr, ptr %v15637, !invariant.load !0
  %v15639 = getelementptr inbounds i8, ptr %v15638, i64 4112384
  %v15640 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15641 = load ptr, ptr %v15640, !invariant.load !0
  %v15642 = getelementptr inbounds i8, ptr %v15641, i64 4603904
  %v15643 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15644 = load ptr, ptr %v15643, !invariant.load !0
  %v15645 = getelementptr inbounds i8, ptr %v15644, i64 5865472
  %v15646 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15647 = load ptr, ptr %v15646, !invariant.load !0
  %v15648 = getelementptr inbounds i8, ptr %v15647, i64 3162112
  %v15649 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15650 = load ptr, ptr %v15649, !invariant.load !0
  %v15651 = getelementptr inbounds i8, ptr %v15650, i64 2162688
  %v15652 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15653 = load ptr, ptr %v15652, !invariant.load !0
  %v15654 = getelementptr inbounds i8, ptr %v15653, i64 2195456
  %v15655 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15656 = load ptr, ptr %v15655, !invariant.load !0
  %v15657 = getelementptr inbounds i8, ptr %v15656, i64 4096000
  %v15658 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15659 = load ptr, ptr %v15658, !invariant.load !0
  %v15660 = getelementptr inbounds i8, ptr %v15659, i64 3899392
  %v15661 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15662 = load ptr, ptr %v15661, !invariant.load !0
  %v15663 = getelementptr inbounds i8, ptr %v15662, i64 4145152
  call void @minimum_tanh_multiply_add_fusion(ptr %v15630, ptr %v15633, ptr %v15636, ptr %v15639, ptr %v15642, ptr %v15645, ptr %v15648, ptr %v15651, ptr %v15654, ptr %v15657, ptr %v15660, ptr %v15663)
  %v15664 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15665 = load ptr, ptr %v15664, !invariant.load !0
  %v15666 = getelementptr inbounds i8, ptr %v15665, i64 1114112
  %v15667 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15668 = load ptr, ptr %v15667, !invariant.load !0
  %v15669 = getelementptr inbounds i8, ptr %v15668, i64 2686976
  %v15670 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15671 = load ptr, ptr %v15670, !invariant.load !0
  %v15672 = getelementptr inbounds i8, ptr %v15671, i64 1425408
  %v15673 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15674 = load ptr, ptr %v15673, !invariant.load !0
  %v15675 = getelementptr inbounds i8, ptr %v15674, i64 2048000
  %v15676 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15677 = load ptr, ptr %v15676, !invariant.load !0
  %v15678 = getelementptr inbounds i8, ptr %v15677, i64 4046848
  %v15679 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15680 = load ptr, ptr %v15679, !invariant.load !0
  %v15681 = getelementptr inbounds i8, ptr %v15680, i64 2195456
  %v15682 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15683 = load ptr, ptr %v15682, !invariant.load !0
  %v15684 = getelementptr inbounds i8, ptr %v15683, i64 212992
  %v15685 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15686 = load ptr, ptr %v15685, !invariant.load !0
  %v15687 = getelementptr inbounds i8, ptr %v15686, i64 704512
  %v15688 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15689 = load ptr, ptr %v15688, !invariant.load !0
  %v15690 = getelementptr inbounds i8, ptr %v15689, i64 3883008
  %v15691 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15692 = load ptr, ptr %v15691, !invariant.load !0
  %v15693 = getelementptr inbounds i8, ptr %v15692, i64 3129344
  %v15694 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15695 = load ptr, ptr %v15694, !invariant.load !0
  %v15696 = getelementptr inbounds i8, ptr %v15695, i64 4161536
  %v15697 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15698 = load ptr, ptr %v15697, !invariant.load !0
  %v15699 = getelementptr inbounds i8, ptr %v15698, i64 4177920
  call void @add_tanh_multiply_subtract_fusion_2(ptr %v15666, ptr %v15669, ptr %v15672, ptr %v15675, ptr %v15678, ptr %v15681, ptr %v15684, ptr %v15687, ptr %v15690, ptr %v15693, ptr %v15696, ptr %v15699)
  %v15700 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15701 = load ptr, ptr %v15700, !invariant.load !0
  %v15702 = getelementptr inbounds i8, ptr %v15701, i64 901120
  %v15703 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15704 = load ptr, ptr %v15703, !invariant.load !0
  %v15705 = getelementptr inbounds i8, ptr %v15704, i64 5390336
  %v15706 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15707 = load ptr, ptr %v15706, !invariant.load !0
  %v15708 = getelementptr inbounds i8, ptr %v15707, i64 32768
  %v15709 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15710 = load ptr, ptr %v15709, !invariant.load !0
  %v15711 = getelementptr inbounds i8, ptr %v15710, i64 2260992
  %v15712 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15713 = load ptr, ptr %v15712, !invariant.load !0
  %v15714 = getelementptr inbounds i8, ptr %v15713, i64 2621440
  %v15715 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15716 = load ptr, ptr %v15715, !invariant.load !0
  %v15717 = getelementptr inbounds i8, ptr %v15716, i64 3457024
  %v15718 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15719 = load ptr, ptr %v15718, !invariant.load !0
  %v15720 = getelementptr inbounds i8, ptr %v15719, i64 3178496
  %v15721 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15722 = load ptr, ptr %v15721, !invariant.load !0
  %v15723 = getelementptr inbounds i8, ptr %v15722, i64 1228800
  %v15724 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15725 = load ptr, ptr %v15724, !invariant.load !0
  %v15726 = getelementptr inbounds i8, ptr %v15725, i64 3162112
  %v15727 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15728 = load ptr, ptr %v15727, !invariant.load !0
  %v15729 = getelementptr inbounds i8, ptr %v15728, i64 4194304
  %v15730 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15731 = load ptr, ptr %v15730, !invariant.load !0
  %v15732 = getelementptr inbounds i8, ptr %v15731, i64 4210688
  %v15733 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15734 = load ptr, ptr %v15733, !invariant.load !0
  %v15735 = getelementptr inbounds i8, ptr %v15734, i64 4227072
  %v15736 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15737 = load ptr, ptr %v15736, !invariant.load !0
  %v15738 = getelementptr inbounds i8, ptr %v15737, i64 4243456
  %v15739 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15740 = load ptr, ptr %v15739, !invariant.load !0
  %v15741 = getelementptr inbounds i8, ptr %v15740, i64 4259840
  %v15742 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15743 = load ptr, ptr %v15742, !invariant.load !0
  %v15744 = getelementptr inbounds i8, ptr %v15743, i64 4276224
  %v15745 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15746 = load ptr, ptr %v15745, !invariant.load !0
  %v15747 = getelementptr inbounds i8, ptr %v15746, i64 4308992
  call void @maximum_minimum_multiply_tanh_fusion(ptr %v15702, ptr %v15705, ptr %v15708, ptr %v15711, ptr %v15714, ptr %v15717, ptr %v15720, ptr %v15723, ptr %v15726, ptr %v15729, ptr %v15732, ptr %v15735, ptr %v15738, ptr %v15741, ptr %v15744, ptr %v15747)
  %v15748 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15749 = load ptr, ptr %v15748, !invariant.load !0
  %v15750 = getelementptr inbounds i8, ptr %v15749, i64 4177920
  %v15751 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15752 = load ptr, ptr %v15751, !invariant.load !0
  %v15753 = getelementptr inbounds i8, ptr %v15752, i64 3358720
  %v15754 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15755 = load ptr, ptr %v15754, !invariant.load !0
  %v15756 = getelementptr inbounds i8, ptr %v15755, i64 2080768
  %v15757 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15758 = load ptr, ptr %v15757, !invariant.load !0
  %v15759 = getelementptr inbounds i8, ptr %v15758, i64 1622016
  %v15760 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15761 = load ptr, ptr %v15760, !invariant.load !0
  %v15762 = getelementptr inbounds i8, ptr %v15761, i64 2670592
  %v15763 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15764 = load ptr, ptr %v15763, !invariant.load !0
  %v15765 = getelementptr inbounds i8, ptr %v15764, i64 2162688
  %v15766 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15767 = load ptr, ptr %v15766, !invariant.load !0
  %v15768 = getelementptr inbounds i8, ptr %v15767, i64 6356992
  %v15769 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15770 = load ptr, ptr %v15769, !invariant.load !0
  %v15771 = getelementptr inbounds i8, ptr %v15770, i64 4325376
  %v15772 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15773 = load ptr, ptr %v15772, !invariant.load !0
  %v15774 = getelementptr inbounds i8, ptr %v15773, i64 4358144
  %v15775 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15776 = load ptr, ptr %v15775, !invariant.load !0
  %v15777 = getelementptr inbounds i8, ptr %v15776, i64 4374528
  %v15778 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15779 = load ptr, ptr %v15778, !invariant.load !0
  %v15780 = getelementptr inbounds i8, ptr %v15779, i64 4407296
  %v15781 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15782 = load ptr, ptr %v15781, !invariant.load !0
  %v15783 = getelementptr inbounds i8, ptr %v15782, i64 4423680
  %v15784 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15785 = load ptr, ptr %v15784, !invariant.load !0
  %v15786 = getelementptr inbounds i8, ptr %v15785, i64 4440064
  %v15787 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15788 = load ptr, ptr %v15787, !invariant.load !0
  %v15789 = getelementptr inbounds i8, ptr %v15788, i64 4456448
  %v15790 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15791 = load ptr, ptr %v15790, !invariant.load !0
  %v15792 = getelementptr inbounds i8, ptr %v15791, i64 4472832
  call void @tanh_minimum_add_multiply_fusion_2(ptr %v15750, ptr %v15753, ptr %v15756, ptr %v15759, ptr %v15762, ptr %v15765, ptr %v15768, ptr %v15771, ptr %v15774, ptr %v15777, ptr %v15780, ptr %v15783, ptr %v15786, ptr %v15789, ptr %v15792)
  %v15793 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15794 = load ptr, ptr %v15793, !invariant.load !0
  %v15795 = getelementptr inbounds i8, ptr %v15794, i64 2703360
  %v15796 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15797 = load ptr, ptr %v15796, !invariant.load !0
  %v15798 = getelementptr inbounds i8, ptr %v15797, i64 3686400
  %v15799 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15800 = load ptr, ptr %v15799, !invariant.load !0
  %v15801 = getelementptr inbounds i8, ptr %v15800, i64 1966080
  %v15802 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15803 = load ptr, ptr %v15802, !invariant.load !0
  %v15804 = getelementptr inbounds i8, ptr %v15803, i64 901120
  %v15805 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15806 = load ptr, ptr %v15805, !invariant.load !0
  %v15807 = getelementptr inbounds i8, ptr %v15806, i64 1654784
  %v15808 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15809 = load ptr, ptr %v15808, !invariant.load !0
  %v15810 = getelementptr inbounds i8, ptr %v15809, i64 999424
  %v15811 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15812 = load ptr, ptr %v15811, !invariant.load !0
  %v15813 = getelementptr inbounds i8, ptr %v15812, i64 2605056
  %v15814 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15815 = load ptr, ptr %v15814, !invariant.load !0
  %v15816 = getelementptr inbounds i8, ptr %v15815, i64 1179648
  %v15817 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15818 = load ptr, ptr %v15817, !invariant.load !0
  %v15819 = getelementptr inbounds i8, ptr %v15818, i64 3801088
  %v15820 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15821 = load ptr, ptr %v15820, !invariant.load !0
  %v15822 = getelementptr inbounds i8, ptr %v15821, i64 1228800
  %v15823 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15824 = load ptr, ptr %v15823, !invariant.load !0
  %v15825 = getelementptr inbounds i8, ptr %v15824, i64 4374528
  %v15826 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15827 = load ptr, ptr %v15826, !invariant.load !0
  %v15828 = getelementptr inbounds i8, ptr %v15827, i64 4489216
  call void @subtract_maximum_minimum_tanh_fusion_1(ptr %v15795, ptr %v15798, ptr %v15801, ptr %v15804, ptr %v15807, ptr %v15810, ptr %v15813, ptr %v15816, ptr %v15819, ptr %v15822, ptr %v15825, ptr %v15828)
  %v15829 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15830 = load ptr, ptr %v15829, !invariant.load !0
  %v15831 = getelementptr inbounds i8, ptr %v15830, i64 2703360
  %v15832 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15833 = load ptr, ptr %v15832, !invariant.load !0
  %v15834 = getelementptr inbounds i8, ptr %v15833, i64 4917504
  call void @multiply_reduce_fusion_14(ptr %v15831, ptr %v15834)
  %v15835 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15836 = load ptr, ptr %v15835, !invariant.load !0
  %v15837 = getelementptr inbounds i8, ptr %v15836, i64 4916736
  call void @wrapped_tanh_540(ptr %v15837)
  %v15838 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15839 = load ptr, ptr %v15838, !invariant.load !0
  %v15840 = getelementptr inbounds i8, ptr %v15839, i64 999424
  %v15841 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15842 = load ptr, ptr %v15841, !invariant.load !0
  %v15843 = getelementptr inbounds i8, ptr %v15842, i64 4917760
  call void @reduce_fusion_110(ptr %v15840, ptr %v15843)
  %v15844 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15845 = load ptr, ptr %v15844, !invariant.load !0
  %v15846 = getelementptr inbounds i8, ptr %v15845, i64 4917760
  call void @wrapped_tanh_540(ptr %v15846)
  %v15847 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15848 = load ptr, ptr %v15847, !invariant.load !0
  %v15849 = getelementptr inbounds i8, ptr %v15848, i64 1605632
  %v15850 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15851 = load ptr, ptr %v15850, !invariant.load !0
  %v15852 = getelementptr inbounds i8, ptr %v15851, i64 4918016
  call void @reduce_fusion_99(ptr %v15849, ptr %v15852)
  %v15853 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15854 = load ptr, ptr %v15853, !invariant.load !0
  %v15855 = getelementptr inbounds i8, ptr %v15854, i64 4918016
  call void @wrapped_tanh_540(ptr %v15855)
  %v15856 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15857 = load ptr, ptr %v15856, !invariant.load !0
  %v15858 = getelementptr inbounds i8, ptr %v15857, i64 3817472
  %v15859 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15860 = load ptr, ptr %v15859, !invariant.load !0
  %v15861 = getelementptr inbounds i8, ptr %v15860, i64 4918272
  call void @reduce_fusion_99(ptr %v15858, ptr %v15861)
  %v15862 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15863 = load ptr, ptr %v15862, !invariant.load !0
  %v15864 = getelementptr inbounds i8, ptr %v15863, i64 4918272
  call void @wrapped_tanh_540(ptr %v15864)
  %v15865 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15866 = load ptr, ptr %v15865, !invariant.load !0
  %v15867 = getelementptr inbounds i8, ptr %v15866, i64 4916992
  call void @wrapped_tanh_540(ptr %v15867)
  %v15868 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15869 = load ptr, ptr %v15868, !invariant.load !0
  %v15870 = getelementptr inbounds i8, ptr %v15869, i64 1769472
  %v15871 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15872 = load ptr, ptr %v15871, !invariant.load !0
  %v15873 = getelementptr inbounds i8, ptr %v15872, i64 4918528
  call void @reduce_fusion_99(ptr %v15870, ptr %v15873)
  %v15874 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15875 = load ptr, ptr %v15874, !invariant.load !0
  %v15876 = getelementptr inbounds i8, ptr %v15875, i64 4918528
  call void @wrapped_tanh_540(ptr %v15876)
  %v15877 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15878 = load ptr, ptr %v15877, !invariant.load !0
  %v15879 = getelementptr inbounds i8, ptr %v15878, i64 4898816
  call void @wrapped_tanh_540(ptr %v15879)
  %v15880 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15881 = load ptr, ptr %v15880, !invariant.load !0
  %v15882 = getelementptr inbounds i8, ptr %v15881, i64 4917504
  call void @wrapped_tanh_540(ptr %v15882)
  %v15883 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15884 = load ptr, ptr %v15883, !invariant.load !0
  %v15885 = getelementptr inbounds i8, ptr %v15884, i64 4898816
  %v15886 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15887 = load ptr, ptr %v15886, !invariant.load !0
  %v15888 = getelementptr inbounds i8, ptr %v15887, i64 4918784
  call void @wrapped_tanh_533(ptr %v15885, ptr %v15888)
  %v15889 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15890 = load ptr, ptr %v15889, !invariant.load !0
  %v15891 = getelementptr inbounds i8, ptr %v15890, i64 2293760
  %v15892 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15893 = load ptr, ptr %v15892, !invariant.load !0
  %v15894 = getelementptr inbounds i8, ptr %v15893, i64 2310144
  %v15895 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15896 = load ptr, ptr %v15895, !invariant.load !0
  %v15897 = getelementptr inbounds i8, ptr %v15896, i64 491520
  %v15898 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15899 = load ptr, ptr %v15898, !invariant.load !0
  %v15900 = getelementptr inbounds i8, ptr %v15899, i64 4243456
  %v15901 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15902 = load ptr, ptr %v15901, !invariant.load !0
  %v15903 = getelementptr inbounds i8, ptr %v15902, i64 2342912
  %v15904 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15905 = load ptr, ptr %v15904, !invariant.load !0
  %v15906 = getelementptr inbounds i8, ptr %v15905, i64 6471680
  %v15907 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15908 = load ptr, ptr %v15907, !invariant.load !0
  %v15909 = getelementptr inbounds i8, ptr %v15908, i64 3883008
  %v15910 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15911 = load ptr, ptr %v15910, !invariant.load !0
  %v15912 = getelementptr inbounds i8, ptr %v15911, i64 999424
  %v15913 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15914 = load ptr, ptr %v15913, !invariant.load !0
  %v15915 = getelementptr inbounds i8, ptr %v15914, i64 3899392
  %v15916 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15917 = load ptr, ptr %v15916, !invariant.load !0
  %v15918 = getelementptr inbounds i8, ptr %v15917, i64 3309568
  %v15919 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15920 = load ptr, ptr %v15919, !invariant.load !0
  %v15921 = getelementptr inbounds i8, ptr %v15920, i64 4918272
  %v15922 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15923 = load ptr, ptr %v15922, !invariant.load !0
  %v15924 = getelementptr inbounds i8, ptr %v15923, i64 2703360
  %v15925 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15926 = load ptr, ptr %v15925, !invariant.load !0
  %v15927 = getelementptr inbounds i8, ptr %v15926, i64 4505600
  %v15928 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15929 = load ptr, ptr %v15928, !invariant.load !0
  %v15930 = getelementptr inbounds i8, ptr %v15929, i64 4521984
  %v15931 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15932 = load ptr, ptr %v15931, !invariant.load !0
  %v15933 = getelementptr inbounds i8, ptr %v15932, i64 4538368
  %v15934 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15935 = load ptr, ptr %v15934, !invariant.load !0
  %v15936 = getelementptr inbounds i8, ptr %v15935, i64 4554752
  %v15937 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15938 = load ptr, ptr %v15937, !invariant.load !0
  %v15939 = getelementptr inbounds i8, ptr %v15938, i64 4571136
  %v15940 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15941 = load ptr, ptr %v15940, !invariant.load !0
  %v15942 = getelementptr inbounds i8, ptr %v15941, i64 4587520
  call void @tanh_add_maximum_multiply_fusion_2(ptr %v15891, ptr %v15894, ptr %v15897, ptr %v15900, ptr %v15903, ptr %v15906, ptr %v15909, ptr %v15912, ptr %v15915, ptr %v15918, ptr %v15921, ptr %v15924, ptr %v15927, ptr %v15930, ptr %v15933, ptr %v15936, ptr %v15939, ptr %v15942)
  %v15943 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15944 = load ptr, ptr %v15943, !invariant.load !0
  %v15945 = getelementptr inbounds i8, ptr %v15944, i64 3604480
  %v15946 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15947 = load ptr, ptr %v15946, !invariant.load !0
  %v15948 = getelementptr inbounds i8, ptr %v15947, i64 1474560
  %v15949 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15950 = load ptr, ptr %v15949, !invariant.load !0
  %v15951 = getelementptr inbounds i8, ptr %v15950, i64 999424
  %v15952 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15953 = load ptr, ptr %v15952, !invariant.load !0
  %v15954 = getelementptr inbounds i8, ptr %v15953, i64 6258688
  %v15955 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15956 = load ptr, ptr %v15955, !invariant.load !0
  %v15957 = getelementptr inbounds i8, ptr %v15956, i64 2686976
  %v15958 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15959 = load ptr, ptr %v15958, !invariant.load !0
  %v15960 = getelementptr inbounds i8, ptr %v15959, i64 98304
  %v15961 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15962 = load ptr, ptr %v15961, !invariant.load !0
  %v15963 = getelementptr inbounds i8, ptr %v15962, i64 3735552
  %v15964 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15965 = load ptr, ptr %v15964, !invariant.load !0
  %v15966 = getelementptr inbounds i8, ptr %v15965, i64 1785856
  %v15967 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15968 = load ptr, ptr %v15967, !invariant.load !0
  %v15969 = getelementptr inbounds i8, ptr %v15968, i64 2342912
  %v15970 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15971 = load ptr, ptr %v15970, !invariant.load !0
  %v15972 = getelementptr inbounds i8, ptr %v15971, i64 425984
  %v15973 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15974 = load ptr, ptr %v15973, !invariant.load !0
  %v15975 = getelementptr inbounds i8, ptr %v15974, i64 4128768
  %v15976 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15977 = load ptr, ptr %v15976, !invariant.load !0
  %v15978 = getelementptr inbounds i8, ptr %v15977, i64 2162688
  %v15979 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15980 = load ptr, ptr %v15979, !invariant.load !0
  %v15981 = getelementptr inbounds i8, ptr %v15980, i64 4620288
  %v15982 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15983 = load ptr, ptr %v15982, !invariant.load !0
  %v15984 = getelementptr inbounds i8, ptr %v15983, i64 4636672
  %v15985 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15986 = load ptr, ptr %v15985, !invariant.load !0
  %v15987 = getelementptr inbounds i8, ptr %v15986, i64 4653056
  call void @tanh_subtract_multiply_minimum_fusion_1(ptr %v15945, ptr %v15948, ptr %v15951, ptr %v15954, ptr %v15957, ptr %v15960, ptr %v15963, ptr %v15966, ptr %v15969, ptr %v15972, ptr %v15975, ptr %v15978, ptr %v15981, ptr %v15984, ptr %v15987)
  %v15988 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15989 = load ptr, ptr %v15988, !invariant.load !0
  %v15990 = getelementptr inbounds i8, ptr %v15989, i64 1769472
  %v15991 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15992 = load ptr, ptr %v15991, !invariant.load !0
  %v15993 = getelementptr inbounds i8, ptr %v15992, i64 1343488
  %v15994 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15995 = load ptr, ptr %v15994, !invariant.load !0
  %v15996 = getelementptr inbounds i8, ptr %v15995, i64 606208
  %v15997 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v15998 = load ptr, ptr %v15997, !invariant.load !0
  %v15999 = getelementptr inbounds i8, ptr %v15998, i64 1261568
  %v16000 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16001 = load ptr, ptr %v16000, !invariant.load !0
  %v16002 = getelementptr inbounds i8, ptr %v16001, i64 2605056
  %v16003 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16004 = load ptr, ptr %v16003, !invariant.load !0
  %v16005 = getelementptr inbounds i8, ptr %v16004, i64 4918528
  %v16006 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16007 = load ptr, ptr %v16006, !invariant.load !0
  %v16008 = getelementptr inbounds i8, ptr %v16007, i64 2015232
  %v16009 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16010 = load ptr, ptr %v16009, !invariant.load !0
  %v16011 = getelementptr inbounds i8, ptr %v16010, i64 344064
  %v16012 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16013 = load ptr, ptr %v16012, !invariant.load !0
  %v16014 = getelementptr inbounds i8, ptr %v16013, i64 5963776
  %v16015 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16016 = load ptr, ptr %v16015, !invariant.load !0
  %v16017 = getelementptr inbounds i8, ptr %v16016, i64 1916928
  %v16018 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16019 = load ptr, ptr %v16018, !invariant.load !0
  %v16020 = getelementptr inbounds i8, ptr %v16019, i64 4917504
  %v16021 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16022 = load ptr, ptr %v16021, !invariant.load !0
  %v16023 = getelementptr inbounds i8, ptr %v16022, i64 4685824
  %v16024 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16025 = load ptr, ptr %v16024, !invariant.load !0
  %v16026 = getelementptr inbounds i8, ptr %v16025, i64 4702208
  %v16027 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16028 = load ptr, ptr %v16027, !invariant.load !0
  %v16029 = getelementptr inbounds i8, ptr %v16028, i64 4718592
  call void @tanh_maximum_multiply_add_fusion_1(ptr %v15990, ptr %v15993, ptr %v15996, ptr %v15999, ptr %v16002, ptr %v16005, ptr %v16008, ptr %v16011, ptr %v16014, ptr %v16017, ptr %v16020, ptr %v16023, ptr %v16026, ptr %v16029)
  %v16030 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16031 = load ptr, ptr %v16030, !invariant.load !0
  %v16032 = getelementptr inbounds i8, ptr %v16031, i64 2670592
  %v16033 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16034 = load ptr, ptr %v16033, !invariant.load !0
  %v16035 = getelementptr inbounds i8, ptr %v16034, i64 3375104
  %v16036 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16037 = load ptr, ptr %v16036, !invariant.load !0
  %v16038 = getelementptr inbounds i8, ptr %v16037, i64 3670016
  %v16039 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16040 = load ptr, ptr %v16039, !invariant.load !0
  %v16041 = getelementptr inbounds i8, ptr %v16040, i64 6242304
  %v16042 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16043 = load ptr, ptr %v16042, !invariant.load !0
  %v16044 = getelementptr inbounds i8, ptr %v16043, i64 1916928
  %v16045 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16046 = load ptr, ptr %v16045, !invariant.load !0
  %v16047 = getelementptr inbounds i8, ptr %v16046, i64 933888
  %v16048 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16049 = load ptr, ptr %v16048, !invariant.load !0
  %v16050 = getelementptr inbounds i8, ptr %v16049, i64 2605056
  %v16051 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16052 = load ptr, ptr %v16051, !invariant.load !0
  %v16053 = getelementptr inbounds i8, ptr %v16052, i64 1835008
  %v16054 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16055 = load ptr, ptr %v16054, !invariant.load !0
  %v16056 = getelementptr inbounds i8, ptr %v16055, i64 2473984
  %v16057 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16058 = load ptr, ptr %v16057, !invariant.load !0
  %v16059 = getelementptr inbounds i8, ptr %v16058, i64 819200
  %v16060 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16061 = load ptr, ptr %v16060, !invariant.load !0
  %v16062 = getelementptr inbounds i8, ptr %v16061, i64 3096576
  %v16063 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16064 = load ptr, ptr %v16063, !invariant.load !0
  %v16065 = getelementptr inbounds i8, ptr %v16064, i64 2686976
  %v16066 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16067 = load ptr, ptr %v16066, !invariant.load !0
  %v16068 = getelementptr inbounds i8, ptr %v16067, i64 4734976
  %v16069 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16070 = load ptr, ptr %v16069, !invariant.load !0
  %v16071 = getelementptr inbounds i8, ptr %v16070, i64 4751360
  %v16072 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16073 = load ptr, ptr %v16072, !invariant.load !0
  %v16074 = getelementptr inbounds i8, ptr %v16073, i64 4767744
  %v16075 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16076 = load ptr, ptr %v16075, !invariant.load !0
  %v16077 = getelementptr inbounds i8, ptr %v16076, i64 4784128
  %v16078 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16079 = load ptr, ptr %v16078, !invariant.load !0
  %v16080 = getelementptr inbounds i8, ptr %v16079, i64 4800512
  call void @subtract_multiply_tanh_maximum_fusion_2(ptr %v16032, ptr %v16035, ptr %v16038, ptr %v16041, ptr %v16044, ptr %v16047, ptr %v16050, ptr %v16053, ptr %v16056, ptr %v16059, ptr %v16062, ptr %v16065, ptr %v16068, ptr %v16071, ptr %v16074, ptr %v16077, ptr %v16080)
  %v16081 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16082 = load ptr, ptr %v16081, !invariant.load !0
  %v16083 = getelementptr inbounds i8, ptr %v16082, i64 2916352
  %v16084 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16085 = load ptr, ptr %v16084, !invariant.load !0
  %v16086 = getelementptr inbounds i8, ptr %v16085, i64 1933312
  %v16087 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16088 = load ptr, ptr %v16087, !invariant.load !0
  %v16089 = getelementptr inbounds i8, ptr %v16088, i64 327680
  %v16090 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16091 = load ptr, ptr %v16090, !invariant.load !0
  %v16092 = getelementptr inbounds i8, ptr %v16091, i64 65536
  %v16093 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16094 = load ptr, ptr %v16093, !invariant.load !0
  %v16095 = getelementptr inbounds i8, ptr %v16094, i64 4918784
  %v16096 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16097 = load ptr, ptr %v16096, !invariant.load !0
  %v16098 = getelementptr inbounds i8, ptr %v16097, i64 1277952
  %v16099 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16100 = load ptr, ptr %v16099, !invariant.load !0
  %v16101 = getelementptr inbounds i8, ptr %v16100, i64 4800512
  %v16102 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16103 = load ptr, ptr %v16102, !invariant.load !0
  %v16104 = getelementptr inbounds i8, ptr %v16103, i64 2457600
  %v16105 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16106 = load ptr, ptr %v16105, !invariant.load !0
  %v16107 = getelementptr inbounds i8, ptr %v16106, i64 2162688
  %v16108 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16109 = load ptr, ptr %v16108, !invariant.load !0
  %v16110 = getelementptr inbounds i8, ptr %v16109, i64 2686976
  %v16111 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16112 = load ptr, ptr %v16111, !invariant.load !0
  %v16113 = getelementptr inbounds i8, ptr %v16112, i64 4145152
  %v16114 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16115 = load ptr, ptr %v16114, !invariant.load !0
  %v16116 = getelementptr inbounds i8, ptr %v16115, i64 4916992
  %v16117 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16118 = load ptr, ptr %v16117, !invariant.load !0
  %v16119 = getelementptr inbounds i8, ptr %v16118, i64 4816896
  %v16120 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16121 = load ptr, ptr %v16120, !invariant.load !0
  %v16122 = getelementptr inbounds i8, ptr %v16121, i64 4833280
  %v16123 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16124 = load ptr, ptr %v16123, !invariant.load !0
  %v16125 = getelementptr inbounds i8, ptr %v16124, i64 4849664
  %v16126 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16127 = load ptr, ptr %v16126, !invariant.load !0
  %v16128 = getelementptr inbounds i8, ptr %v16127, i64 4866048
  call void @subtract_tanh_multiply_maximum_fusion_1(ptr %v16083, ptr %v16086, ptr %v16089, ptr %v16092, ptr %v16095, ptr %v16098, ptr %v16101, ptr %v16104, ptr %v16107, ptr %v16110, ptr %v16113, ptr %v16116, ptr %v16119, ptr %v16122, ptr %v16125, ptr %v16128)
  %v16129 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16130 = load ptr, ptr %v16129, !invariant.load !0
  %v16131 = getelementptr inbounds i8, ptr %v16130, i64 475136
  %v16132 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16133 = load ptr, ptr %v16132, !invariant.load !0
  %v16134 = getelementptr inbounds i8, ptr %v16133, i64 3719168
  %v16135 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16136 = load ptr, ptr %v16135, !invariant.load !0
  %v16137 = getelementptr inbounds i8, ptr %v16136, i64 2080768
  %v16138 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16139 = load ptr, ptr %v16138, !invariant.load !0
  %v16140 = getelementptr inbounds i8, ptr %v16139, i64 3358720
  %v16141 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16142 = load ptr, ptr %v16141, !invariant.load !0
  %v16143 = getelementptr inbounds i8, ptr %v16142, i64 376832
  %v16144 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16145 = load ptr, ptr %v16144, !invariant.load !0
  %v16146 = getelementptr inbounds i8, ptr %v16145, i64 1458176
  %v16147 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16148 = load ptr, ptr %v16147, !invariant.load !0
  %v16149 = getelementptr inbounds i8, ptr %v16148, i64 2801664
  %v16150 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16151 = load ptr, ptr %v16150, !invariant.load !0
  %v16152 = getelementptr inbounds i8, ptr %v16151, i64 3129344
  %v16153 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16154 = load ptr, ptr %v16153, !invariant.load !0
  %v16155 = getelementptr inbounds i8, ptr %v16154, i64 3538944
  %v16156 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16157 = load ptr, ptr %v16156, !invariant.load !0
  %v16158 = getelementptr inbounds i8, ptr %v16157, i64 4898816
  %v16159 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16160 = load ptr, ptr %v16159, !invariant.load !0
  %v16161 = getelementptr inbounds i8, ptr %v16160, i64 1933312
  %v16162 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16163 = load ptr, ptr %v16162, !invariant.load !0
  %v16164 = getelementptr inbounds i8, ptr %v16163, i64 180224
  %v16165 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16166 = load ptr, ptr %v16165, !invariant.load !0
  %v16167 = getelementptr inbounds i8, ptr %v16166, i64 4918784
  %v16168 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16169 = load ptr, ptr %v16168, !invariant.load !0
  %v16170 = getelementptr inbounds i8, ptr %v16169, i64 4882432
  call void @tanh_minimum_multiply_subtract_fusion(ptr %v16131, ptr %v16134, ptr %v16137, ptr %v16140, ptr %v16143, ptr %v16146, ptr %v16149, ptr %v16152, ptr %v16155, ptr %v16158, ptr %v16161, ptr %v16164, ptr %v16167, ptr %v16170)
  %v16171 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16172 = load ptr, ptr %v16171, !invariant.load !0
  %v16173 = getelementptr inbounds i8, ptr %v16172, i64 3850240
  %v16174 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16175 = load ptr, ptr %v16174, !invariant.load !0
  %v16176 = getelementptr inbounds i8, ptr %v16175, i64 2506752
  %v16177 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16178 = load ptr, ptr %v16177, !invariant.load !0
  %v16179 = getelementptr inbounds i8, ptr %v16178, i64 262144
  %v16180 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16181 = load ptr, ptr %v16180, !invariant.load !0
  %v16182 = getelementptr inbounds i8, ptr %v16181, i64 4898816
  call void @minimum_tanh_fusion_17(ptr %v16173, ptr %v16176, ptr %v16179, ptr %v16182)
  %v16183 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16184 = load ptr, ptr %v16183, !invariant.load !0
  %v16185 = getelementptr inbounds i8, ptr %v16184, i64 2424832
  %v16186 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16187 = load ptr, ptr %v16186, !invariant.load !0
  %v16188 = getelementptr inbounds i8, ptr %v16187, i64 851968
  %v16189 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16190 = load ptr, ptr %v16189, !invariant.load !0
  %v16191 = getelementptr inbounds i8, ptr %v16190, i64 4917760
  %v16192 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16193 = load ptr, ptr %v16192, !invariant.load !0
  %v16194 = getelementptr inbounds i8, ptr %v16193, i64 3719168
  %v16195 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16196 = load ptr, ptr %v16195, !invariant.load !0
  %v16197 = getelementptr inbounds i8, ptr %v16196, i64 2506752
  %v16198 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16199 = load ptr, ptr %v16198, !invariant.load !0
  %v16200 = getelementptr inbounds i8, ptr %v16199, i64 4916736
  %v16201 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16202 = load ptr, ptr %v16201, !invariant.load !0
  %v16203 = getelementptr inbounds i8, ptr %v16202, i64 311296
  %v16204 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16205 = load ptr, ptr %v16204, !invariant.load !0
  %v16206 = getelementptr inbounds i8, ptr %v16205, i64 4014080
  %v16207 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16208 = load ptr, ptr %v16207, !invariant.load !0
  %v16209 = getelementptr inbounds i8, ptr %v16208, i64 6275072
  %v16210 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16211 = load ptr, ptr %v16210, !invariant.load !0
  %v16212 = getelementptr inbounds i8, ptr %v16211, i64 2064384
  %v16213 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16214 = load ptr, ptr %v16213, !invariant.load !0
  %v16215 = getelementptr inbounds i8, ptr %v16214, i64 3391488
  %v16216 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16217 = load ptr, ptr %v16216, !invariant.load !0
  %v16218 = getelementptr inbounds i8, ptr %v16217, i64 1572864
  %v16219 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16220 = load ptr, ptr %v16219, !invariant.load !0
  %v16221 = getelementptr inbounds i8, ptr %v16220, i64 3571712
  %v16222 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16223 = load ptr, ptr %v16222, !invariant.load !0
  %v16224 = getelementptr inbounds i8, ptr %v16223, i64 1130496
  %v16225 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16226 = load ptr, ptr %v16225, !invariant.load !0
  %v16227 = getelementptr inbounds i8, ptr %v16226, i64 2949120
  %v16228 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16229 = load ptr, ptr %v16228, !invariant.load !0
  %v16230 = getelementptr inbounds i8, ptr %v16229, i64 3194880
  %v16231 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16232 = load ptr, ptr %v16231, !invariant.load !0
  %v16233 = getelementptr inbounds i8, ptr %v16232, i64 3833856
  %v16234 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16235 = load ptr, ptr %v16234, !invariant.load !0
  %v16236 = getelementptr inbounds i8, ptr %v16235, i64 786432
  %v16237 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16238 = load ptr, ptr %v16237, !invariant.load !0
  %v16239 = getelementptr inbounds i8, ptr %v16238, i64 704512
  %v16240 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16241 = load ptr, ptr %v16240, !invariant.load !0
  %v16242 = getelementptr inbounds i8, ptr %v16241, i64 475136
  %v16243 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16244 = load ptr, ptr %v16243, !invariant.load !0
  %v16245 = getelementptr inbounds i8, ptr %v16244, i64 1851392
  %v16246 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16247 = load ptr, ptr %v16246, !invariant.load !0
  %v16248 = getelementptr inbounds i8, ptr %v16247, i64 720896
  %v16249 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16250 = load ptr, ptr %v16249, !invariant.load !0
  %v16251 = getelementptr inbounds i8, ptr %v16250, i64 2998272
  %v16252 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16253 = load ptr, ptr %v16252, !invariant.load !0
  %v16254 = getelementptr inbounds i8, ptr %v16253, i64 2097152
  %v16255 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16256 = load ptr, ptr %v16255, !invariant.load !0
  %v16257 = getelementptr inbounds i8, ptr %v16256, i64 4669440
  %v16258 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16259 = load ptr, ptr %v16258, !invariant.load !0
  %v16260 = getelementptr inbounds i8, ptr %v16259, i64 4915456
  %v16261 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16262 = load ptr, ptr %v16261, !invariant.load !0
  %v16263 = getelementptr inbounds i8, ptr %v16262, i64 3260416
  %v16264 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16265 = load ptr, ptr %v16264, !invariant.load !0
  %v16266 = getelementptr inbounds i8, ptr %v16265, i64 458752
  %v16267 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16268 = load ptr, ptr %v16267, !invariant.load !0
  %v16269 = getelementptr inbounds i8, ptr %v16268, i64 1441792
  %v16270 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16271 = load ptr, ptr %v16270, !invariant.load !0
  %v16272 = getelementptr inbounds i8, ptr %v16271, i64 3948544
  %v16273 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16274 = load ptr, ptr %v16273, !invariant.load !0
  %v16275 = getelementptr inbounds i8, ptr %v16274, i64 2490368
  %v16276 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16277 = load ptr, ptr %v16276, !invariant.load !0
  %v16278 = getelementptr inbounds i8, ptr %v16277, i64 5521408
  %v16279 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16280 = load ptr, ptr %v16279, !invariant.load !0
  %v16281 = getelementptr inbounds i8, ptr %v16280, i64 6045696
  %v16282 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16283 = load ptr, ptr %v16282, !invariant.load !0
  %v16284 = getelementptr inbounds i8, ptr %v16283, i64 2408448
  %v16285 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16286 = load ptr, ptr %v16285, !invariant.load !0
  %v16287 = getelementptr inbounds i8, ptr %v16286, i64 2375680
  %v16288 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16289 = load ptr, ptr %v16288, !invariant.load !0
  %v16290 = getelementptr inbounds i8, ptr %v16289, i64 6438912
  %v16291 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16292 = load ptr, ptr %v16291, !invariant.load !0
  %v16293 = getelementptr inbounds i8, ptr %v16292, i64 3751936
  %v16294 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16295 = load ptr, ptr %v16294, !invariant.load !0
  %v16296 = getelementptr inbounds i8, ptr %v16295, i64 3620864
  %v16297 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16298 = load ptr, ptr %v16297, !invariant.load !0
  %v16299 = getelementptr inbounds i8, ptr %v16298, i64 1032192
  %v16300 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16301 = load ptr, ptr %v16300, !invariant.load !0
  %v16302 = getelementptr inbounds i8, ptr %v16301, i64 3457024
  %v16303 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16304 = load ptr, ptr %v16303, !invariant.load !0
  %v16305 = getelementptr inbounds i8, ptr %v16304, i64 4918016
  %v16306 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16307 = load ptr, ptr %v16306, !invariant.load !0
  %v16308 = getelementptr inbounds i8, ptr %v16307, i64 5390336
  %v16309 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16310 = load ptr, ptr %v16309, !invariant.load !0
  %v16311 = getelementptr inbounds i8, ptr %v16310, i64 1998848
  %v16312 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16313 = load ptr, ptr %v16312, !invariant.load !0
  %v16314 = getelementptr inbounds i8, ptr %v16313, i64 3850240
  %v16315 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16316 = load ptr, ptr %v16315, !invariant.load !0
  %v16317 = getelementptr inbounds i8, ptr %v16316, i64 868352
  %v16318 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16319 = load ptr, ptr %v16318, !invariant.load !0
  %v16320 = getelementptr inbounds i8, ptr %v16319, i64 835584
  %v16321 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16322 = load ptr, ptr %v16321, !invariant.load !0
  %v16323 = getelementptr inbounds i8, ptr %v16322, i64 49152
  %v16324 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16325 = load ptr, ptr %v16324, !invariant.load !0
  %v16326 = getelementptr inbounds i8, ptr %v16325, i64 589824
  %v16327 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16328 = load ptr, ptr %v16327, !invariant.load !0
  %v16329 = getelementptr inbounds i8, ptr %v16328, i64 3293184
  %v16330 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16331 = load ptr, ptr %v16330, !invariant.load !0
  %v16332 = getelementptr inbounds i8, ptr %v16331, i64 1556480
  %v16333 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16334 = load ptr, ptr %v16333, !invariant.load !0
  %v16335 = getelementptr inbounds i8, ptr %v16334, i64 3522560
  %v16336 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16337 = load ptr, ptr %v16336, !invariant.load !0
  %v16338 = getelementptr inbounds i8, ptr %v16337, i64 262144
  %v16339 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16340 = load ptr, ptr %v16339, !invariant.load !0
  %v16341 = getelementptr inbounds i8, ptr %v16340, i64 3981312
  %v16342 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16343 = load ptr, ptr %v16342, !invariant.load !0
  %v16344 = getelementptr inbounds i8, ptr %v16343, i64 3702784
  %v16345 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16346 = load ptr, ptr %v16345, !invariant.load !0
  %v16347 = getelementptr inbounds i8, ptr %v16346, i64 3997696
  %v16348 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16349 = load ptr, ptr %v16348, !invariant.load !0
  %v16350 = getelementptr inbounds i8, ptr %v16349, i64 3784704
  %v16351 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16352 = load ptr, ptr %v16351, !invariant.load !0
  %v16353 = getelementptr inbounds i8, ptr %v16352, i64 1327104
  %v16354 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16355 = load ptr, ptr %v16354, !invariant.load !0
  %v16356 = getelementptr inbounds i8, ptr %v16355, i64 4980736
  %v16357 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16358 = load ptr, ptr %v16357, !invariant.load !0
  %v16359 = getelementptr inbounds i8, ptr %v16358, i64 3080192
  %v16360 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16361 = load ptr, ptr %v16360, !invariant.load !0
  %v16362 = getelementptr inbounds i8, ptr %v16361, i64 2850816
  %v16363 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16364 = load ptr, ptr %v16363, !invariant.load !0
  %v16365 = getelementptr inbounds i8, ptr %v16364, i64 6488064
  %v16366 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16367 = load ptr, ptr %v16366, !invariant.load !0
  %v16368 = getelementptr inbounds i8, ptr %v16367, i64 1687552
  %v16369 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v16370 = load ptr, ptr %v16369, !invariant.load !0
  %v16371 = getelementptr inbounds i8, ptr %v16370, i64 1884160
  %v16373 = getelementptr inbounds ptr, ptr %slot16372, i64 0
  store ptr %v16185, ptr %v16373, align 8
  %v16374 = getelementptr inbounds ptr, ptr %slot16372, i64 1
  store ptr %v16188, ptr %v16374, align 8
  %v16375 = getelementptr inbounds ptr, ptr %slot16372, i64 2
  store ptr %v16191, ptr %v16375, align 8
  %v16376 = getelementptr inbounds ptr, ptr %slot16372, i64 3
  store ptr %v16194, ptr %v16376, align 8
  %v16377 = getelementptr inbounds ptr, ptr %slot16372, i64 4
  store ptr %v16197, ptr %v16377, align 8
  %v16378 = getelementptr inbounds ptr, ptr %slot16372, i64 5
  store ptr %v16200, ptr %v16378, align 8
  %v16379 = getelementptr inbounds ptr, ptr %slot16372, i64 6
  store ptr %v16203, ptr %v16379, align 8
  %v16380 = getelementptr inbounds ptr, ptr %slot16372, i64 7
  store ptr %v16206, ptr %v16380, align 8
  %v16381 = getelementptr inbounds ptr, ptr %slot16372, i64 8
  store ptr %v16209, ptr %v16381, align 8
  %v16382 = getelementptr inbounds ptr, ptr %slot16372, i64 9
  store ptr %v16212, ptr %v16382, align 8
  %v16383 = getelementptr inbounds ptr, ptr %slot16372, i64 10
  store ptr %v16215, ptr %v16383, align 8
  %v16384 = getelementptr inbounds ptr, ptr %slot16372, i64 11
  store ptr %v16218, ptr %v16384, align 8
  %v16385 = getelementptr inbounds ptr, ptr %slot16372, i64 12
  store ptr %v16221, ptr %v16385, align 8
  %v16386 = getelementptr inbounds ptr, ptr %slot16372, i64 13
  store ptr %v16224, ptr %v16386, align 8
  %v16387 = getelementptr inbounds ptr, ptr %slot16372, i64 14
  store ptr %v16227, ptr %v16387, align 8
  %v16388 = getelementptr inbounds ptr, ptr %slot16372, i64 15
  store ptr %v16230, ptr %v16388, align 8
  %v16389 = getelementptr inbounds ptr, ptr %slot16372, i64 16
  store ptr %v16233, ptr %v16389, align 8
  %v16390 = getelementptr inbounds ptr, ptr %slot16372, i64 17
  store ptr %v16236, ptr %v16390, align 8
  %v16391 = getelementptr inbounds ptr, ptr %slot16372, i64 18
  store ptr %v16239, ptr %v16391, align 8
  %v16392 = getelementptr inbounds ptr, ptr %slot16372, i64 19
  store ptr %v16242, ptr %v16392, align 8
  %v16393 = getelementptr inbounds ptr, ptr %slot16372, i64 20
  store ptr %v16245, ptr %v16393, align 8
  %v16394 = getelementptr inbounds ptr, ptr %slot16372, i64 21
  store ptr %v16248, ptr %v16394, align 8
  %v16395 = getelementptr inbounds ptr, ptr %slot16372, i64 22
  store ptr %v16251, ptr %v16395, align 8
  %v16396 = getelementptr inbounds ptr, ptr %slot16372, i64 23
  store ptr %v16254, ptr %v16396, align 8
  %v16397 = getelementptr inbounds ptr, ptr %slot16372, i64 24
  store ptr %v16257, ptr %v16397, align 8
  %v16398 = getelementptr inbounds ptr, ptr %slot16372, i64 25
  store ptr %v16260, ptr %v16398, align 8
  %v16399 = getelementptr inbounds ptr, ptr %slot16372, i64 26
  store ptr %v16263, ptr %v16399, align 8
  %v16400 = getelementptr inbounds ptr, ptr %slot16372, i64 27
  store ptr %v16266, ptr %v16400, align 8
  %v16401 = getelementptr inbounds ptr, ptr %slot16372, i64 28
  store ptr %v16269, ptr %v16401, align 8
  %v16402 = getelementptr inbounds ptr, ptr %slot16372, i64 29
  store ptr %v16272, ptr %v16402, align 8
  %v16403 = getelementptr inbounds ptr, ptr %slot16372, i64 30
  store ptr %v16275, ptr %v16403, align 8
  %v16404 = getelementptr inbounds ptr, ptr %slot16372, i64 31
  store ptr %v16278, ptr %v16404, align 8
  %v16405 = getelementptr inbounds ptr, ptr %slot16372, i64 32
  store ptr %v16281, ptr %v16405, align 8
  %v16406 = getelementptr inbounds ptr, ptr %slot16372, i64 33
  store ptr %v16284, ptr %v16406, align 8
  %v16407 = getelementptr inbounds ptr, ptr %slot16372, i64 34
  store ptr %v16287, ptr %v16407, align 8
  %v16408 = getelementptr inbounds ptr, ptr %slot16372, i64 35
  store ptr %v16290, ptr %v16408, align 8
  %v16409 = getelementptr inbounds ptr, ptr %slot16372, i64 36
  store ptr %v16293, ptr %v16409, align 8
  %v16410 = getelementptr inbounds ptr, ptr %slot16372, i64 37
  store ptr %v16296, ptr %v16410, align 8
  %v16411 = getelementptr inbounds ptr, ptr %slot16372, i64 38
  store ptr %v16299, ptr %v16411, align 8
  %v16412 = getelementptr inbounds ptr, ptr %slot16372, i64 39
  store ptr %v16302, ptr %v16412, align 8
  %v16413 = getelementptr inbounds ptr, ptr %slot16372, i64 40
  store ptr %v16305, ptr %v16413, align 8
  %v16414 = getelementptr inbounds ptr, ptr %slot16372, i64 41
  store ptr %v16308, ptr %v16414, align 8
  %v16415 = getelementptr inbounds ptr, ptr %slot16372, i64 42
  store ptr %v16311, ptr %v16415, align 8
  %v16416 = getelementptr inbounds ptr, ptr %slot16372, i64 43
  store ptr %v16314, ptr %v16416, align 8
  %v16417 = getelementptr inbounds ptr, ptr %slot16372, i64 44
  store ptr %v16317, ptr %v16417, align 8
  %v16418 = getelementptr inbounds ptr, ptr %slot16372, i64 45
  store ptr %v16320, ptr %v16418, align 8
  %v16419 = getelementptr inbounds ptr, ptr %slot16372, i64 46
  store ptr %v16323, ptr %v16419, align 8
  %v16420 = getelementptr inbounds ptr, ptr %slot16372, i64 47
  store ptr %v16326, ptr %v16420, align 8
  %v16421 = getelementptr inbounds ptr, ptr %slot16372, i64 48
  store ptr %v16329, ptr %v16421, align 8
  %v16422 = getelementptr inbounds ptr, ptr %slot16372, i64 49
  store ptr %v16332, ptr %v16422, align 8
  %v16423 = getelementptr inbounds ptr, ptr %slot16372, i64 50
  store ptr %v16335, ptr %v16423, align 8
  %v16424 = getelementptr inbounds ptr, ptr %slot16372, i64 51
  store ptr %v16338, ptr %v16424, align 8
  %v16425 = getelementptr inbounds ptr, ptr %slot16372, i64 52
  store ptr %v16341, ptr %v16425, align 8
  %v16426 = getelementptr inbounds ptr, ptr %slot16372, i64 53
  store ptr %v16344, ptr %v16426, align 8
  %v16427 = getelementptr inbounds ptr, ptr %slot16372, i64 54
  store ptr %v16347, ptr %v16427, align 8
  %v16428 = getelementptr inbounds ptr, ptr %slot16372, i64 55
  store ptr %v16350, ptr %v16428, align 8
  %v16429 = getelementptr inbounds ptr, ptr %slot16372, i64 56
  store ptr %v16353, ptr %v16429, align 8
  %v16430 = getelementptr inbounds ptr, ptr %slot16372, i64 57
  store ptr %v16356, ptr %v16430, align 8
  %v16431 = getelementptr inbounds ptr, ptr %slot16372, i64 58
  store ptr %v16359, ptr %v16431, align 8
  %v16432 = getelementptr inbounds ptr, ptr %slot16372, i64 59
  store ptr %v16362, ptr %v16432, align 8
  %v16433 = getelementptr inbounds ptr, ptr %slot16372, i64 60
  store ptr %v16365, ptr %v16433, align 8
  %v16434 = getelementptr inbounds ptr, ptr %slot16372, i64 61
  store ptr %v16368, ptr %v16434, align 8
  %v16435 = getelementptr inbounds ptr, ptr %slot16372, i64 62
  store ptr %v16371, ptr %v16435, align 8
  call void @xla_explorer_parallel_for(ptr @add_tanh_add_fusion_3_task, ptr %slot16372, i64 4)
  ret i32 0
}

define hidden i32 @xe_entry_part19(ptr noalias %arguments) nounwind optnone noinline "optimization-level"="final" {
entry:
  %slot18914 = alloca ptr, i64 63, align 64
  %v18315 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18316 = load ptr, ptr %v18315, !invariant.load !0
  %v18317 = getelementptr inbounds i8, ptr %v18316, i64 5865472
  %v18318 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18319 = load ptr, ptr %v18318, !invariant.load !0
  %v18320 = getelementptr inbounds i8, ptr %v18319, i64 5013504
  %v18321 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18322 = load ptr, ptr %v18321, !invariant.load !0
  %v18323 = getelementptr inbounds i8, ptr %v18322, i64 933888
  %v18324 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18325 = load ptr, ptr %v18324, !invariant.load !0
  %v18326 = getelementptr inbounds i8, ptr %v18325, i64 180224
  call void @multiply_tanh_reduce_fusion(ptr %v18317, ptr %v18320, ptr %v18323, ptr %v18326)
  %v18327 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18328 = load ptr, ptr %v18327, !invariant.load !0
  %v18329 = getelementptr inbounds i8, ptr %v18328, i64 4341760
  %v18330 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18331 = load ptr, ptr %v18330, !invariant.load !0
  %v18332 = getelementptr inbounds i8, ptr %v18331, i64 917504
  %v18333 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18334 = load ptr, ptr %v18333, !invariant.load !0
  %v18335 = getelementptr inbounds i8, ptr %v18334, i64 2310144
  call void @subtract_multiply_reduce_fusion_5(ptr %v18329, ptr %v18332, ptr %v18335)
  %v18336 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18337 = load ptr, ptr %v18336, !invariant.load !0
  %v18338 = getelementptr inbounds i8, ptr %v18337, i64 3653632
  %v18339 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18340 = load ptr, ptr %v18339, !invariant.load !0
  %v18341 = getelementptr inbounds i8, ptr %v18340, i64 2752512
  %v18342 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18343 = load ptr, ptr %v18342, !invariant.load !0
  %v18344 = getelementptr inbounds i8, ptr %v18343, i64 163840
  call void @multiply_fusion_72(ptr %v18338, ptr %v18341, ptr %v18344)
  %v18345 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18346 = load ptr, ptr %v18345, !invariant.load !0
  %v18347 = getelementptr inbounds i8, ptr %v18346, i64 1998848
  %v18348 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18349 = load ptr, ptr %v18348, !invariant.load !0
  %v18350 = getelementptr inbounds i8, ptr %v18349, i64 1277952
  call void @reduce_fusion_110(ptr %v18347, ptr %v18350)
  %v18351 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18352 = load ptr, ptr %v18351, !invariant.load !0
  %v18353 = getelementptr inbounds i8, ptr %v18352, i64 3358720
  %v18354 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18355 = load ptr, ptr %v18354, !invariant.load !0
  %v18356 = getelementptr inbounds i8, ptr %v18355, i64 819200
  call void @reduce_fusion_110(ptr %v18353, ptr %v18356)
  %v18357 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18358 = load ptr, ptr %v18357, !invariant.load !0
  %v18359 = getelementptr inbounds i8, ptr %v18358, i64 3653632
  %v18360 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18361 = load ptr, ptr %v18360, !invariant.load !0
  %v18362 = getelementptr inbounds i8, ptr %v18361, i64 1998848
  call void @reduce_fusion_99(ptr %v18359, ptr %v18362)
  %v18363 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18364 = load ptr, ptr %v18363, !invariant.load !0
  %v18365 = getelementptr inbounds i8, ptr %v18364, i64 180224
  call void @wrapped_tanh_540(ptr %v18365)
  %v18366 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18367 = load ptr, ptr %v18366, !invariant.load !0
  %v18368 = getelementptr inbounds i8, ptr %v18367, i64 1998848
  call void @wrapped_tanh_540(ptr %v18368)
  %v18369 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18370 = load ptr, ptr %v18369, !invariant.load !0
  %v18371 = getelementptr inbounds i8, ptr %v18370, i64 2736128
  %v18372 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18373 = load ptr, ptr %v18372, !invariant.load !0
  %v18374 = getelementptr inbounds i8, ptr %v18373, i64 1294336
  %v18375 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18376 = load ptr, ptr %v18375, !invariant.load !0
  %v18377 = getelementptr inbounds i8, ptr %v18376, i64 1261568
  %v18378 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18379 = load ptr, ptr %v18378, !invariant.load !0
  %v18380 = getelementptr inbounds i8, ptr %v18379, i64 3850240
  %v18381 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18382 = load ptr, ptr %v18381, !invariant.load !0
  %v18383 = getelementptr inbounds i8, ptr %v18382, i64 3522560
  %v18384 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18385 = load ptr, ptr %v18384, !invariant.load !0
  %v18386 = getelementptr inbounds i8, ptr %v18385, i64 770048
  %v18387 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18388 = load ptr, ptr %v18387, !invariant.load !0
  %v18389 = getelementptr inbounds i8, ptr %v18388, i64 4636672
  %v18390 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18391 = load ptr, ptr %v18390, !invariant.load !0
  %v18392 = getelementptr inbounds i8, ptr %v18391, i64 4538368
  %v18393 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18394 = load ptr, ptr %v18393, !invariant.load !0
  %v18395 = getelementptr inbounds i8, ptr %v18394, i64 4358144
  %v18396 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18397 = load ptr, ptr %v18396, !invariant.load !0
  %v18398 = getelementptr inbounds i8, ptr %v18397, i64 2031616
  %v18399 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18400 = load ptr, ptr %v18399, !invariant.load !0
  %v18401 = getelementptr inbounds i8, ptr %v18400, i64 4849664
  %v18402 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18403 = load ptr, ptr %v18402, !invariant.load !0
  %v18404 = getelementptr inbounds i8, ptr %v18403, i64 114688
  call void @add_maximum_tanh_multiply_fusion(ptr %v18371, ptr %v18374, ptr %v18377, ptr %v18380, ptr %v18383, ptr %v18386, ptr %v18389, ptr %v18392, ptr %v18395, ptr %v18398, ptr %v18401, ptr %v18404)
  %v18405 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18406 = load ptr, ptr %v18405, !invariant.load !0
  %v18407 = getelementptr inbounds i8, ptr %v18406, i64 720896
  %v18408 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18409 = load ptr, ptr %v18408, !invariant.load !0
  %v18410 = getelementptr inbounds i8, ptr %v18409, i64 1605632
  %v18411 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18412 = load ptr, ptr %v18411, !invariant.load !0
  %v18413 = getelementptr inbounds i8, ptr %v18412, i64 3522560
  %v18414 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18415 = load ptr, ptr %v18414, !invariant.load !0
  %v18416 = getelementptr inbounds i8, ptr %v18415, i64 1392640
  %v18417 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18418 = load ptr, ptr %v18417, !invariant.load !0
  %v18419 = getelementptr inbounds i8, ptr %v18418, i64 1163264
  %v18420 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18421 = load ptr, ptr %v18420, !invariant.load !0
  %v18422 = getelementptr inbounds i8, ptr %v18421, i64 1458176
  %v18423 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18424 = load ptr, ptr %v18423, !invariant.load !0
  %v18425 = getelementptr inbounds i8, ptr %v18424, i64 196608
  %v18426 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18427 = load ptr, ptr %v18426, !invariant.load !0
  %v18428 = getelementptr inbounds i8, ptr %v18427, i64 1998848
  %v18429 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18430 = load ptr, ptr %v18429, !invariant.load !0
  %v18431 = getelementptr inbounds i8, ptr %v18430, i64 737280
  %v18432 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18433 = load ptr, ptr %v18432, !invariant.load !0
  %v18434 = getelementptr inbounds i8, ptr %v18433, i64 180224
  %v18435 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18436 = load ptr, ptr %v18435, !invariant.load !0
  %v18437 = getelementptr inbounds i8, ptr %v18436, i64 655360
  %v18438 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18439 = load ptr, ptr %v18438, !invariant.load !0
  %v18440 = getelementptr inbounds i8, ptr %v18439, i64 540672
  %v18441 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18442 = load ptr, ptr %v18441, !invariant.load !0
  %v18443 = getelementptr inbounds i8, ptr %v18442, i64 2260992
  %v18444 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18445 = load ptr, ptr %v18444, !invariant.load !0
  %v18446 = getelementptr inbounds i8, ptr %v18445, i64 4276224
  %v18447 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18448 = load ptr, ptr %v18447, !invariant.load !0
  %v18449 = getelementptr inbounds i8, ptr %v18448, i64 4047104
  %v18450 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18451 = load ptr, ptr %v18450, !invariant.load !0
  %v18452 = getelementptr inbounds i8, ptr %v18451, i64 2605056
  call void @multiply_add_tanh_subtract_fusion_2(ptr %v18407, ptr %v18410, ptr %v18413, ptr %v18416, ptr %v18419, ptr %v18422, ptr %v18425, ptr %v18428, ptr %v18431, ptr %v18434, ptr %v18437, ptr %v18440, ptr %v18443, ptr %v18446, ptr %v18449, ptr %v18452)
  %v18453 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18454 = load ptr, ptr %v18453, !invariant.load !0
  %v18455 = getelementptr inbounds i8, ptr %v18454, i64 4047360
  call void @wrapped_tanh_540(ptr %v18455)
  %v18456 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18457 = load ptr, ptr %v18456, !invariant.load !0
  %v18458 = getelementptr inbounds i8, ptr %v18457, i64 1277952
  call void @wrapped_tanh_540(ptr %v18458)
  %v18459 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18460 = load ptr, ptr %v18459, !invariant.load !0
  %v18461 = getelementptr inbounds i8, ptr %v18460, i64 2310144
  call void @wrapped_tanh_540(ptr %v18461)
  %v18462 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18463 = load ptr, ptr %v18462, !invariant.load !0
  %v18464 = getelementptr inbounds i8, ptr %v18463, i64 819200
  call void @wrapped_tanh_540(ptr %v18464)
  %v18465 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18466 = load ptr, ptr %v18465, !invariant.load !0
  %v18467 = getelementptr inbounds i8, ptr %v18466, i64 4079616
  call void @wrapped_tanh_446(ptr %v18467)
  %v18468 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18469 = load ptr, ptr %v18468, !invariant.load !0
  %v18470 = getelementptr inbounds i8, ptr %v18469, i64 3555328
  %v18471 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18472 = load ptr, ptr %v18471, !invariant.load !0
  %v18473 = getelementptr inbounds i8, ptr %v18472, i64 6242304
  %v18474 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18475 = load ptr, ptr %v18474, !invariant.load !0
  %v18476 = getelementptr inbounds i8, ptr %v18475, i64 163840
  call void @d73(ptr %v18470, ptr %v18473, ptr %v18476)
  %v18477 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18478 = load ptr, ptr %v18477, !invariant.load !0
  %v18479 = getelementptr inbounds i8, ptr %v18478, i64 3538944
  %v18480 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18481 = load ptr, ptr %v18480, !invariant.load !0
  %v18482 = getelementptr inbounds i8, ptr %v18481, i64 1343488
  %v18483 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18484 = load ptr, ptr %v18483, !invariant.load !0
  %v18485 = getelementptr inbounds i8, ptr %v18484, i64 180224
  call void @d2119(ptr %v18479, ptr %v18482, ptr %v18485)
  %v18486 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18487 = load ptr, ptr %v18486, !invariant.load !0
  %v18488 = getelementptr inbounds i8, ptr %v18487, i64 4048384
  %v18489 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18490 = load ptr, ptr %v18489, !invariant.load !0
  %v18491 = getelementptr inbounds i8, ptr %v18490, i64 278528
  call void @wrapped_broadcast_4(ptr %v18488, ptr %v18491)
  %v18492 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18493 = load ptr, ptr %v18492, !invariant.load !0
  %v18494 = getelementptr inbounds i8, ptr %v18493, i64 3014656
  %v18495 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18496 = load ptr, ptr %v18495, !invariant.load !0
  %v18497 = getelementptr inbounds i8, ptr %v18496, i64 278528
  %v18498 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18499 = load ptr, ptr %v18498, !invariant.load !0
  %v18500 = getelementptr inbounds i8, ptr %v18499, i64 327680
  call void @d73(ptr %v18494, ptr %v18497, ptr %v18500)
  %v18501 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18502 = load ptr, ptr %v18501, !invariant.load !0
  %v18503 = getelementptr inbounds i8, ptr %v18502, i64 4079616
  %v18504 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18505 = load ptr, ptr %v18504, !invariant.load !0
  %v18506 = getelementptr inbounds i8, ptr %v18505, i64 1032192
  %v18507 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18508 = load ptr, ptr %v18507, !invariant.load !0
  %v18509 = getelementptr inbounds i8, ptr %v18508, i64 278528
  call void @d73(ptr %v18503, ptr %v18506, ptr %v18509)
  %v18510 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18511 = load ptr, ptr %v18510, !invariant.load !0
  %v18512 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18513 = load ptr, ptr %v18512, !invariant.load !0
  %v18514 = getelementptr inbounds i8, ptr %v18513, i64 1736704
  %v18515 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18516 = load ptr, ptr %v18515, !invariant.load !0
  %v18517 = getelementptr inbounds i8, ptr %v18516, i64 4096000
  %v18518 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18519 = load ptr, ptr %v18518, !invariant.load !0
  %v18520 = getelementptr inbounds i8, ptr %v18519, i64 4882432
  %v18521 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18522 = load ptr, ptr %v18521, !invariant.load !0
  %v18523 = getelementptr inbounds i8, ptr %v18522, i64 2260992
  %v18524 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18525 = load ptr, ptr %v18524, !invariant.load !0
  %v18526 = getelementptr inbounds i8, ptr %v18525, i64 2244608
  %v18527 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18528 = load ptr, ptr %v18527, !invariant.load !0
  %v18529 = getelementptr inbounds i8, ptr %v18528, i64 819200
  %v18530 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18531 = load ptr, ptr %v18530, !invariant.load !0
  %v18532 = getelementptr inbounds i8, ptr %v18531, i64 835584
  %v18533 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18534 = load ptr, ptr %v18533, !invariant.load !0
  %v18535 = getelementptr inbounds i8, ptr %v18534, i64 3604480
  %v18536 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18537 = load ptr, ptr %v18536, !invariant.load !0
  %v18538 = getelementptr inbounds i8, ptr %v18537, i64 4751360
  %v18539 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18540 = load ptr, ptr %v18539, !invariant.load !0
  %v18541 = getelementptr inbounds i8, ptr %v18540, i64 425984
  %v18542 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18543 = load ptr, ptr %v18542, !invariant.load !0
  %v18544 = getelementptr inbounds i8, ptr %v18543, i64 475136
  %v18545 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18546 = load ptr, ptr %v18545, !invariant.load !0
  %v18547 = getelementptr inbounds i8, ptr %v18546, i64 491520
  %v18548 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18549 = load ptr, ptr %v18548, !invariant.load !0
  %v18550 = getelementptr inbounds i8, ptr %v18549, i64 638976
  %v18551 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18552 = load ptr, ptr %v18551, !invariant.load !0
  %v18553 = getelementptr inbounds i8, ptr %v18552, i64 688128
  call void @tanh_multiply_maximum_add_fusion(ptr %v18511, ptr %v18514, ptr %v18517, ptr %v18520, ptr %v18523, ptr %v18526, ptr %v18529, ptr %v18532, ptr %v18535, ptr %v18538, ptr %v18541, ptr %v18544, ptr %v18547, ptr %v18550, ptr %v18553)
  %v18554 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18555 = load ptr, ptr %v18554, !invariant.load !0
  %v18556 = getelementptr inbounds i8, ptr %v18555, i64 2768896
  %v18557 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18558 = load ptr, ptr %v18557, !invariant.load !0
  %v18559 = getelementptr inbounds i8, ptr %v18558, i64 5734400
  %v18560 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18561 = load ptr, ptr %v18560, !invariant.load !0
  %v18562 = getelementptr inbounds i8, ptr %v18561, i64 3457024
  %v18563 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18564 = load ptr, ptr %v18563, !invariant.load !0
  %v18565 = getelementptr inbounds i8, ptr %v18564, i64 2703360
  %v18566 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18567 = load ptr, ptr %v18566, !invariant.load !0
  %v18568 = getelementptr inbounds i8, ptr %v18567, i64 393216
  %v18569 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18570 = load ptr, ptr %v18569, !invariant.load !0
  %v18571 = getelementptr inbounds i8, ptr %v18570, i64 425984
  %v18572 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18573 = load ptr, ptr %v18572, !invariant.load !0
  %v18574 = getelementptr inbounds i8, ptr %v18573, i64 2555904
  %v18575 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18576 = load ptr, ptr %v18575, !invariant.load !0
  %v18577 = getelementptr inbounds i8, ptr %v18576, i64 2195456
  %v18578 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18579 = load ptr, ptr %v18578, !invariant.load !0
  %v18580 = getelementptr inbounds i8, ptr %v18579, i64 4916992
  %v18581 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18582 = load ptr, ptr %v18581, !invariant.load !0
  %v18583 = getelementptr inbounds i8, ptr %v18582, i64 1081344
  %v18584 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18585 = load ptr, ptr %v18584, !invariant.load !0
  %v18586 = getelementptr inbounds i8, ptr %v18585, i64 4917248
  %v18587 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18588 = load ptr, ptr %v18587, !invariant.load !0
  %v18589 = getelementptr inbounds i8, ptr %v18588, i64 819200
  %v18590 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18591 = load ptr, ptr %v18590, !invariant.load !0
  %v18592 = getelementptr inbounds i8, ptr %v18591, i64 884736
  %v18593 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18594 = load ptr, ptr %v18593, !invariant.load !0
  %v18595 = getelementptr inbounds i8, ptr %v18594, i64 917504
  call void @subtract_multiply_tanh_maximum_fusion_3(ptr %v18556, ptr %v18559, ptr %v18562, ptr %v18565, ptr %v18568, ptr %v18571, ptr %v18574, ptr %v18577, ptr %v18580, ptr %v18583, ptr %v18586, ptr %v18589, ptr %v18592, ptr %v18595)
  %v18596 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18597 = load ptr, ptr %v18596, !invariant.load !0
  %v18598 = getelementptr inbounds i8, ptr %v18597, i64 3735552
  %v18599 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18600 = load ptr, ptr %v18599, !invariant.load !0
  %v18601 = getelementptr inbounds i8, ptr %v18600, i64 1277952
  %v18602 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18603 = load ptr, ptr %v18602, !invariant.load !0
  %v18604 = getelementptr inbounds i8, ptr %v18603, i64 81920
  %v18605 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18606 = load ptr, ptr %v18605, !invariant.load !0
  %v18607 = getelementptr inbounds i8, ptr %v18606, i64 98304
  %v18608 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18609 = load ptr, ptr %v18608, !invariant.load !0
  %v18610 = getelementptr inbounds i8, ptr %v18609, i64 1900544
  %v18611 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18612 = load ptr, ptr %v18611, !invariant.load !0
  %v18613 = getelementptr inbounds i8, ptr %v18612, i64 4276224
  %v18614 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18615 = load ptr, ptr %v18614, !invariant.load !0
  %v18616 = getelementptr inbounds i8, ptr %v18615, i64 2555904
  %v18617 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18618 = load ptr, ptr %v18617, !invariant.load !0
  %v18619 = getelementptr inbounds i8, ptr %v18618, i64 933888
  %v18620 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18621 = load ptr, ptr %v18620, !invariant.load !0
  %v18622 = getelementptr inbounds i8, ptr %v18621, i64 1032192
  %v18623 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18624 = load ptr, ptr %v18623, !invariant.load !0
  %v18625 = getelementptr inbounds i8, ptr %v18624, i64 1212416
  call void @tanh_minimum_multiply_fusion(ptr %v18598, ptr %v18601, ptr %v18604, ptr %v18607, ptr %v18610, ptr %v18613, ptr %v18616, ptr %v18619, ptr %v18622, ptr %v18625)
  %v18626 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18627 = load ptr, ptr %v18626, !invariant.load !0
  %v18628 = getelementptr inbounds i8, ptr %v18627, i64 163840
  %v18629 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18630 = load ptr, ptr %v18629, !invariant.load !0
  %v18631 = getelementptr inbounds i8, ptr %v18630, i64 3440640
  %v18632 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18633 = load ptr, ptr %v18632, !invariant.load !0
  %v18634 = getelementptr inbounds i8, ptr %v18633, i64 360448
  %v18635 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18636 = load ptr, ptr %v18635, !invariant.load !0
  %v18637 = getelementptr inbounds i8, ptr %v18636, i64 3850240
  %v18638 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18639 = load ptr, ptr %v18638, !invariant.load !0
  %v18640 = getelementptr inbounds i8, ptr %v18639, i64 3489792
  %v18641 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18642 = load ptr, ptr %v18641, !invariant.load !0
  %v18643 = getelementptr inbounds i8, ptr %v18642, i64 950272
  %v18644 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18645 = load ptr, ptr %v18644, !invariant.load !0
  %v18646 = getelementptr inbounds i8, ptr %v18645, i64 4456448
  %v18647 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18648 = load ptr, ptr %v18647, !invariant.load !0
  %v18649 = getelementptr inbounds i8, ptr %v18648, i64 81920
  %v18650 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18651 = load ptr, ptr %v18650, !invariant.load !0
  %v18652 = getelementptr inbounds i8, ptr %v18651, i64 4653056
  %v18653 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18654 = load ptr, ptr %v18653, !invariant.load !0
  %v18655 = getelementptr inbounds i8, ptr %v18654, i64 1327104
  %v18656 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18657 = load ptr, ptr %v18656, !invariant.load !0
  %v18658 = getelementptr inbounds i8, ptr %v18657, i64 2605056
  call void @tanh_subtract_minimum_add_fusion_2(ptr %v18628, ptr %v18631, ptr %v18634, ptr %v18637, ptr %v18640, ptr %v18643, ptr %v18646, ptr %v18649, ptr %v18652, ptr %v18655, ptr %v18658)
  %v18659 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18660 = load ptr, ptr %v18659, !invariant.load !0
  %v18661 = getelementptr inbounds i8, ptr %v18660, i64 278528
  %v18662 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18663 = load ptr, ptr %v18662, !invariant.load !0
  %v18664 = getelementptr inbounds i8, ptr %v18663, i64 1982464
  %v18665 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18666 = load ptr, ptr %v18665, !invariant.load !0
  %v18667 = getelementptr inbounds i8, ptr %v18666, i64 4964352
  %v18668 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18669 = load ptr, ptr %v18668, !invariant.load !0
  %v18670 = getelementptr inbounds i8, ptr %v18669, i64 4014080
  %v18671 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18672 = load ptr, ptr %v18671, !invariant.load !0
  %v18673 = getelementptr inbounds i8, ptr %v18672, i64 442368
  %v18674 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18675 = load ptr, ptr %v18674, !invariant.load !0
  %v18676 = getelementptr inbounds i8, ptr %v18675, i64 2719744
  %v18677 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18678 = load ptr, ptr %v18677, !invariant.load !0
  %v18679 = getelementptr inbounds i8, ptr %v18678, i64 1277952
  %v18680 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18681 = load ptr, ptr %v18680, !invariant.load !0
  %v18682 = getelementptr inbounds i8, ptr %v18681, i64 1310720
  %v18683 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18684 = load ptr, ptr %v18683, !invariant.load !0
  %v18685 = getelementptr inbounds i8, ptr %v18684, i64 1359872
  call void @tanh_multiply_minimum_fusion_2(ptr %v18661, ptr %v18664, ptr %v18667, ptr %v18670, ptr %v18673, ptr %v18676, ptr %v18679, ptr %v18682, ptr %v18685)
  %v18686 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18687 = load ptr, ptr %v18686, !invariant.load !0
  %v18688 = getelementptr inbounds i8, ptr %v18687, i64 4685824
  %v18689 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18690 = load ptr, ptr %v18689, !invariant.load !0
  %v18691 = getelementptr inbounds i8, ptr %v18690, i64 311296
  %v18692 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18693 = load ptr, ptr %v18692, !invariant.load !0
  %v18694 = getelementptr inbounds i8, ptr %v18693, i64 4390912
  %v18695 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18696 = load ptr, ptr %v18695, !invariant.load !0
  %v18697 = getelementptr inbounds i8, ptr %v18696, i64 49152
  %v18698 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18699 = load ptr, ptr %v18698, !invariant.load !0
  %v18700 = getelementptr inbounds i8, ptr %v18699, i64 1392640
  %v18701 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18702 = load ptr, ptr %v18701, !invariant.load !0
  %v18703 = getelementptr inbounds i8, ptr %v18702, i64 278528
  %v18704 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18705 = load ptr, ptr %v18704, !invariant.load !0
  %v18706 = getelementptr inbounds i8, ptr %v18705, i64 1081344
  %v18707 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18708 = load ptr, ptr %v18707, !invariant.load !0
  %v18709 = getelementptr inbounds i8, ptr %v18708, i64 1343488
  %v18710 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18711 = load ptr, ptr %v18710, !invariant.load !0
  %v18712 = getelementptr inbounds i8, ptr %v18711, i64 1425408
  %v18713 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18714 = load ptr, ptr %v18713, !invariant.load !0
  %v18715 = getelementptr inbounds i8, ptr %v18714, i64 1703936
  %v18716 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18717 = load ptr, ptr %v18716, !invariant.load !0
  %v18718 = getelementptr inbounds i8, ptr %v18717, i64 1769472
  %v18719 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18720 = load ptr, ptr %v18719, !invariant.load !0
  %v18721 = getelementptr inbounds i8, ptr %v18720, i64 1785856
  %v18722 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18723 = load ptr, ptr %v18722, !invariant.load !0
  %v18724 = getelementptr inbounds i8, ptr %v18723, i64 1818624
  %v18725 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18726 = load ptr, ptr %v18725, !invariant.load !0
  %v18727 = getelementptr inbounds i8, ptr %v18726, i64 1835008
  call void @minimum_tanh_multiply_add_fusion_1(ptr %v18688, ptr %v18691, ptr %v18694, ptr %v18697, ptr %v18700, ptr %v18703, ptr %v18706, ptr %v18709, ptr %v18712, ptr %v18715, ptr %v18718, ptr %v18721, ptr %v18724, ptr %v18727)
  %v18728 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18729 = load ptr, ptr %v18728, !invariant.load !0
  %v18730 = getelementptr inbounds i8, ptr %v18729, i64 606208
  %v18731 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18732 = load ptr, ptr %v18731, !invariant.load !0
  %v18733 = getelementptr inbounds i8, ptr %v18732, i64 1179648
  %v18734 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18735 = load ptr, ptr %v18734, !invariant.load !0
  %v18736 = getelementptr inbounds i8, ptr %v18735, i64 1654784
  %v18737 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18738 = load ptr, ptr %v18737, !invariant.load !0
  %v18739 = getelementptr inbounds i8, ptr %v18738, i64 2146304
  %v18740 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18741 = load ptr, ptr %v18740, !invariant.load !0
  %v18742 = getelementptr inbounds i8, ptr %v18741, i64 163840
  %v18743 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18744 = load ptr, ptr %v18743, !invariant.load !0
  %v18745 = getelementptr inbounds i8, ptr %v18744, i64 3407872
  %v18746 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18747 = load ptr, ptr %v18746, !invariant.load !0
  %v18748 = getelementptr inbounds i8, ptr %v18747, i64 786432
  %v18749 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18750 = load ptr, ptr %v18749, !invariant.load !0
  %v18751 = getelementptr inbounds i8, ptr %v18750, i64 2473984
  %v18752 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18753 = load ptr, ptr %v18752, !invariant.load !0
  %v18754 = getelementptr inbounds i8, ptr %v18753, i64 3145728
  %v18755 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18756 = load ptr, ptr %v18755, !invariant.load !0
  %v18757 = getelementptr inbounds i8, ptr %v18756, i64 1933312
  %v18758 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18759 = load ptr, ptr %v18758, !invariant.load !0
  %v18760 = getelementptr inbounds i8, ptr %v18759, i64 1687552
  %v18761 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18762 = load ptr, ptr %v18761, !invariant.load !0
  %v18763 = getelementptr inbounds i8, ptr %v18762, i64 966656
  %v18764 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18765 = load ptr, ptr %v18764, !invariant.load !0
  %v18766 = getelementptr inbounds i8, ptr %v18765, i64 851968
  %v18767 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18768 = load ptr, ptr %v18767, !invariant.load !0
  %v18769 = getelementptr inbounds i8, ptr %v18768, i64 983040
  %v18770 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18771 = load ptr, ptr %v18770, !invariant.load !0
  %v18772 = getelementptr inbounds i8, ptr %v18771, i64 2080768
  %v18773 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18774 = load ptr, ptr %v18773, !invariant.load !0
  %v18775 = getelementptr inbounds i8, ptr %v18774, i64 589824
  %v18776 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18777 = load ptr, ptr %v18776, !invariant.load !0
  %v18778 = getelementptr inbounds i8, ptr %v18777, i64 49152
  %v18779 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18780 = load ptr, ptr %v18779, !invariant.load !0
  %v18781 = getelementptr inbounds i8, ptr %v18780, i64 901120
  %v18782 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18783 = load ptr, ptr %v18782, !invariant.load !0
  %v18784 = getelementptr inbounds i8, ptr %v18783, i64 6242304
  %v18785 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18786 = load ptr, ptr %v18785, !invariant.load !0
  %v18787 = getelementptr inbounds i8, ptr %v18786, i64 4505600
  %v18788 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18789 = load ptr, ptr %v18788, !invariant.load !0
  %v18790 = getelementptr inbounds i8, ptr %v18789, i64 4816896
  %v18791 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18792 = load ptr, ptr %v18791, !invariant.load !0
  %v18793 = getelementptr inbounds i8, ptr %v18792, i64 1802240
  %v18794 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18795 = load ptr, ptr %v18794, !invariant.load !0
  %v18796 = getelementptr inbounds i8, ptr %v18795, i64 1982464
  %v18797 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18798 = load ptr, ptr %v18797, !invariant.load !0
  %v18799 = getelementptr inbounds i8, ptr %v18798, i64 2359296
  %v18800 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18801 = load ptr, ptr %v18800, !invariant.load !0
  %v18802 = getelementptr inbounds i8, ptr %v18801, i64 180224
  %v18803 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18804 = load ptr, ptr %v18803, !invariant.load !0
  %v18805 = getelementptr inbounds i8, ptr %v18804, i64 835584
  %v18806 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18807 = load ptr, ptr %v18806, !invariant.load !0
  %v18808 = getelementptr inbounds i8, ptr %v18807, i64 2113536
  %v18809 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18810 = load ptr, ptr %v18809, !invariant.load !0
  %v18811 = getelementptr inbounds i8, ptr %v18810, i64 196608
  %v18812 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18813 = load ptr, ptr %v18812, !invariant.load !0
  %v18814 = getelementptr inbounds i8, ptr %v18813, i64 2818048
  %v18815 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18816 = load ptr, ptr %v18815, !invariant.load !0
  %v18817 = getelementptr inbounds i8, ptr %v18816, i64 3588096
  %v18818 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18819 = load ptr, ptr %v18818, !invariant.load !0
  %v18820 = getelementptr inbounds i8, ptr %v18819, i64 3194880
  %v18821 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18822 = load ptr, ptr %v18821, !invariant.load !0
  %v18823 = getelementptr inbounds i8, ptr %v18822, i64 2850816
  %v18824 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18825 = load ptr, ptr %v18824, !invariant.load !0
  %v18826 = getelementptr inbounds i8, ptr %v18825, i64 327680
  %v18827 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18828 = load ptr, ptr %v18827, !invariant.load !0
  %v18829 = getelementptr inbounds i8, ptr %v18828, i64 4734976
  %v18830 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18831 = load ptr, ptr %v18830, !invariant.load !0
  %v18832 = getelementptr inbounds i8, ptr %v18831, i64 1605632
  %v18833 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18834 = load ptr, ptr %v18833, !invariant.load !0
  %v18835 = getelementptr inbounds i8, ptr %v18834, i64 3932160
  %v18836 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18837 = load ptr, ptr %v18836, !invariant.load !0
  %v18838 = getelementptr inbounds i8, ptr %v18837, i64 3915776
  %v18839 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18840 = load ptr, ptr %v18839, !invariant.load !0
  %v18841 = getelementptr inbounds i8, ptr %v18840, i64 2801664
  %v18842 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18843 = load ptr, ptr %v18842, !invariant.load !0
  %v18844 = getelementptr inbounds i8, ptr %v18843, i64 4882432
  %v18845 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18846 = load ptr, ptr %v18845, !invariant.load !0
  %v18847 = getelementptr inbounds i8, ptr %v18846, i64 1163264
  %v18848 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18849 = load ptr, ptr %v18848, !invariant.load !0
  %v18850 = getelementptr inbounds i8, ptr %v18849, i64 2703360
  %v18851 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18852 = load ptr, ptr %v18851, !invariant.load !0
  %v18853 = getelementptr inbounds i8, ptr %v18852, i64 4685824
  %v18854 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18855 = load ptr, ptr %v18854, !invariant.load !0
  %v18856 = getelementptr inbounds i8, ptr %v18855, i64 1196032
  %v18857 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18858 = load ptr, ptr %v18857, !invariant.load !0
  %v18859 = getelementptr inbounds i8, ptr %v18858, i64 4177920
  %v18860 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18861 = load ptr, ptr %v18860, !invariant.load !0
  %v18862 = getelementptr inbounds i8, ptr %v18861, i64 4636672
  %v18863 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18864 = load ptr, ptr %v18863, !invariant.load !0
  %v18865 = getelementptr inbounds i8, ptr %v18864, i64 409600
  %v18866 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18867 = load ptr, ptr %v18866, !invariant.load !0
  %v18868 = getelementptr inbounds i8, ptr %v18867, i64 1130496
  %v18869 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18870 = load ptr, ptr %v18869, !invariant.load !0
  %v18871 = getelementptr inbounds i8, ptr %v18870, i64 2965504
  %v18872 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18873 = load ptr, ptr %v18872, !invariant.load !0
  %v18874 = getelementptr inbounds i8, ptr %v18873, i64 1425408
  %v18875 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18876 = load ptr, ptr %v18875, !invariant.load !0
  %v18877 = getelementptr inbounds i8, ptr %v18876, i64 720896
  %v18878 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18879 = load ptr, ptr %v18878, !invariant.load !0
  %v18880 = getelementptr inbounds i8, ptr %v18879, i64 4898816
  %v18881 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18882 = load ptr, ptr %v18881, !invariant.load !0
  %v18883 = getelementptr inbounds i8, ptr %v18882, i64 2310144
  %v18884 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18885 = load ptr, ptr %v18884, !invariant.load !0
  %v18886 = getelementptr inbounds i8, ptr %v18885, i64 4047360
  %v18887 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18888 = load ptr, ptr %v18887, !invariant.load !0
  %v18889 = getelementptr inbounds i8, ptr %v18888, i64 4784128
  %v18890 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18891 = load ptr, ptr %v18890, !invariant.load !0
  %v18892 = getelementptr inbounds i8, ptr %v18891, i64 16384
  %v18893 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18894 = load ptr, ptr %v18893, !invariant.load !0
  %v18895 = getelementptr inbounds i8, ptr %v18894, i64 131072
  %v18896 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18897 = load ptr, ptr %v18896, !invariant.load !0
  %v18898 = getelementptr inbounds i8, ptr %v18897, i64 1720320
  %v18899 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18900 = load ptr, ptr %v18899, !invariant.load !0
  %v18901 = getelementptr inbounds i8, ptr %v18900, i64 2015232
  %v18902 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18903 = load ptr, ptr %v18902, !invariant.load !0
  %v18904 = getelementptr inbounds i8, ptr %v18903, i64 6471680
  %v18905 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18906 = load ptr, ptr %v18905, !invariant.load !0
  %v18907 = getelementptr inbounds i8, ptr %v18906, i64 5734400
  %v18908 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18909 = load ptr, ptr %v18908, !invariant.load !0
  %v18910 = getelementptr inbounds i8, ptr %v18909, i64 4047104
  %v18911 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18912 = load ptr, ptr %v18911, !invariant.load !0
  %v18913 = getelementptr inbounds i8, ptr %v18912, i64 4918784
  %v18915 = getelementptr inbounds ptr, ptr %slot18914, i64 0
  store ptr %v18730, ptr %v18915, align 8
  %v18916 = getelementptr inbounds ptr, ptr %slot18914, i64 1
  store ptr %v18733, ptr %v18916, align 8
  %v18917 = getelementptr inbounds ptr, ptr %slot18914, i64 2
  store ptr %v18736, ptr %v18917, align 8
  %v18918 = getelementptr inbounds ptr, ptr %slot18914, i64 3
  store ptr %v18739, ptr %v18918, align 8
  %v18919 = getelementptr inbounds ptr, ptr %slot18914, i64 4
  store ptr %v18742, ptr %v18919, align 8
  %v18920 = getelementptr inbounds ptr, ptr %slot18914, i64 5
  store ptr %v18745, ptr %v18920, align 8
  %v18921 = getelementptr inbounds ptr, ptr %slot18914, i64 6
  store ptr %v18748, ptr %v18921, align 8
  %v18922 = getelementptr inbounds ptr, ptr %slot18914, i64 7
  store ptr %v18751, ptr %v18922, align 8
  %v18923 = getelementptr inbounds ptr, ptr %slot18914, i64 8
  store ptr %v18754, ptr %v18923, align 8
  %v18924 = getelementptr inbounds ptr, ptr %slot18914, i64 9
  store ptr %v18757, ptr %v18924, align 8
  %v18925 = getelementptr inbounds ptr, ptr %slot18914, i64 10
  store ptr %v18760, ptr %v18925, align 8
  %v18926 = getelementptr inbounds ptr, ptr %slot18914, i64 11
  store ptr %v18763, ptr %v18926, align 8
  %v18927 = getelementptr inbounds ptr, ptr %slot18914, i64 12
  store ptr %v18766, ptr %v18927, align 8
  %v18928 = getelementptr inbounds ptr, ptr %slot18914, i64 13
  store ptr %v18769, ptr %v18928, align 8
  %v18929 = getelementptr inbounds ptr, ptr %slot18914, i64 14
  store ptr %v18772, ptr %v18929, align 8
  %v18930 = getelementptr inbounds ptr, ptr %slot18914, i64 15
  store ptr %v18775, ptr %v18930, align 8
  %v18931 = getelementptr inbounds ptr, ptr %slot18914, i64 16
  store ptr %v18778, ptr %v18931, align 8
  %v18932 = getelementptr inbounds ptr, ptr %slot18914, i64 17
  store ptr %v18781, ptr %v18932, align 8
  %v18933 = getelementptr inbounds ptr, ptr %slot18914, i64 18
  store ptr %v18784, ptr %v18933, align 8
  %v18934 = getelementptr inbounds ptr, ptr %slot18914, i64 19
  store ptr %v18787, ptr %v18934, align 8
  %v18935 = getelementptr inbounds ptr, ptr %slot18914, i64 20
  store ptr %v18790, ptr %v18935, align 8
  %v18936 = getelementptr inbounds ptr, ptr %slot18914, i64 21
  store ptr %v18793, ptr %v18936, align 8
  %v18937 = getelementptr inbounds ptr, ptr %slot18914, i64 22
  store ptr %v18796, ptr %v18937, align 8
  %v18938 = getelementptr inbounds ptr, ptr %slot18914, i64 23
  store ptr %v18799, ptr %v18938, align 8
  %v18939 = getelementptr inbounds ptr, ptr %slot18914, i64 24
  store ptr %v18802, ptr %v18939, align 8
  %v18940 = getelementptr inbounds ptr, ptr %slot18914, i64 25
  store ptr %v18805, ptr %v18940, align 8
  %v18941 = getelementptr inbounds ptr, ptr %slot18914, i64 26
  store ptr %v18808, ptr %v18941, align 8
  %v18942 = getelementptr inbounds ptr, ptr %slot18914, i64 27
  store ptr %v18811, ptr %v18942, align 8
  %v18943 = getelementptr inbounds ptr, ptr %slot18914, i64 28
  store ptr %v18814, ptr %v18943, align 8
  %v18944 = getelementptr inbounds ptr, ptr %slot18914, i64 29
  store ptr %v18817, ptr %v18944, align 8
  %v18945 = getelementptr inbounds ptr, ptr %slot18914, i64 30
  store ptr %v18820, ptr %v18945, align 8
  %v18946 = getelementptr inbounds ptr, ptr %slot18914, i64 31
  store ptr %v18823, ptr %v18946, align 8
  %v18947 = getelementptr inbounds ptr, ptr %slot18914, i64 32
  store ptr %v18826, ptr %v18947, align 8
  %v18948 = getelementptr inbounds ptr, ptr %slot18914, i64 33
  store ptr %v18829, ptr %v18948, align 8
  %v18949 = getelementptr inbounds ptr, ptr %slot18914, i64 34
  store ptr %v18832, ptr %v18949, align 8
  %v18950 = getelementptr inbounds ptr, ptr %slot18914, i64 35
  store ptr %v18835, ptr %v18950, align 8
  %v18951 = getelementptr inbounds ptr, ptr %slot18914, i64 36
  store ptr %v18838, ptr %v18951, align 8
  %v18952 = getelementptr inbounds ptr, ptr %slot18914, i64 37
  store ptr %v18841, ptr %v18952, align 8
  %v18953 = getelementptr inbounds ptr, ptr %slot18914, i64 38
  store ptr %v18844, ptr %v18953, align 8
  %v18954 = getelementptr inbounds ptr, ptr %slot18914, i64 39
  store ptr %v18847, ptr %v18954, align 8
  %v18955 = getelementptr inbounds ptr, ptr %slot18914, i64 40
  store ptr %v18850, ptr %v18955, align 8
  %v18956 = getelementptr inbounds ptr, ptr %slot18914, i64 41
  store ptr %v18853, ptr %v18956, align 8
  %v18957 = getelementptr inbounds ptr, ptr %slot18914, i64 42
  store ptr %v18856, ptr %v18957, align 8
  %v18958 = getelementptr inbounds ptr, ptr %slot18914, i64 43
  store ptr %v18859, ptr %v18958, align 8
  %v18959 = getelementptr inbounds ptr, ptr %slot18914, i64 44
  store ptr %v18862, ptr %v18959, align 8
  %v18960 = getelementptr inbounds ptr, ptr %slot18914, i64 45
  store ptr %v18865, ptr %v18960, align 8
  %v18961 = getelementptr inbounds ptr, ptr %slot18914, i64 46
  store ptr %v18868, ptr %v18961, align 8
  %v18962 = getelementptr inbounds ptr, ptr %slot18914, i64 47
  store ptr %v18871, ptr %v18962, align 8
  %v18963 = getelementptr inbounds ptr, ptr %slot18914, i64 48
  store ptr %v18874, ptr %v18963, align 8
  %v18964 = getelementptr inbounds ptr, ptr %slot18914, i64 49
  store ptr %v18877, ptr %v18964, align 8
  %v18965 = getelementptr inbounds ptr, ptr %slot18914, i64 50
  store ptr %v18880, ptr %v18965, align 8
  %v18966 = getelementptr inbounds ptr, ptr %slot18914, i64 51
  store ptr %v18883, ptr %v18966, align 8
  %v18967 = getelementptr inbounds ptr, ptr %slot18914, i64 52
  store ptr %v18886, ptr %v18967, align 8
  %v18968 = getelementptr inbounds ptr, ptr %slot18914, i64 53
  store ptr %v18889, ptr %v18968, align 8
  %v18969 = getelementptr inbounds ptr, ptr %slot18914, i64 54
  store ptr %v18892, ptr %v18969, align 8
  %v18970 = getelementptr inbounds ptr, ptr %slot18914, i64 55
  store ptr %v18895, ptr %v18970, align 8
  %v18971 = getelementptr inbounds ptr, ptr %slot18914, i64 56
  store ptr %v18898, ptr %v18971, align 8
  %v18972 = getelementptr inbounds ptr, ptr %slot18914, i64 57
  store ptr %v18901, ptr %v18972, align 8
  %v18973 = getelementptr inbounds ptr, ptr %slot18914, i64 58
  store ptr %v18904, ptr %v18973, align 8
  %v18974 = getelementptr inbounds ptr, ptr %slot18914, i64 59
  store ptr %v18907, ptr %v18974, align 8
  %v18975 = getelementptr inbounds ptr, ptr %slot18914, i64 60
  store ptr %v18910, ptr %v18975, align 8
  %v18976 = getelementptr inbounds ptr, ptr %slot18914, i64 61
  store ptr %v18913, ptr %v18976, align 8
  call void @xla_explorer_parallel_for(ptr @add_multiply_add_fusion_7_task, ptr %slot18914, i64 4)
  %v18977 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18978 = load ptr, ptr %v18977, !invariant.load !0
  %v18979 = getelementptr inbounds i8, ptr %v18978, i64 4767744
  %v18980 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18981 = load ptr, ptr %v18980, !invariant.load !0
  %v18982 = getelementptr inbounds i8, ptr %v18981, i64 1015808
  %v18983 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18984 = load ptr, ptr %v18983, !invariant.load !0
  %v18985 = getelementptr inbounds i8, ptr %v18984, i64 3129344
  %v18986 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18987 = load ptr, ptr %v18986, !invariant.load !0
  %v18988 = getelementptr inbounds i8, ptr %v18987, i64 2998272
  %v18989 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18990 = load ptr, ptr %v18989, !invariant.load !0
  %v18991 = getelementptr inbounds i8, ptr %v18990, i64 2113536
  %v18992 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18993 = load ptr, ptr %v18992, !invariant.load !0
  %v18994 = getelementptr inbounds i8, ptr %v18993, i64 4918784
  %v18995 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18996 = load ptr, ptr %v18995, !invariant.load !0
  %v18997 = getelementptr inbounds i8, ptr %v18996, i64 1294336
  %v18998 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v18999 = load ptr, ptr %v18998, !invariant.load !0
  %v19000 = getelementptr inbounds i8, ptr %v18999, i64 786432
  %v19001 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19002 = load ptr, ptr %v19001, !invariant.load !0
  %v19003 = getelementptr inbounds i8, ptr %v19002, i64 3096576
  %v19004 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19005 = load ptr, ptr %v19004, !invariant.load !0
  %v19006 = getelementptr inbounds i8, ptr %v19005, i64 1589248
  %v19007 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19008 = load ptr, ptr %v19007, !invariant.load !0
  %v19009 = getelementptr inbounds i8, ptr %v19008, i64 1097728
  %v19010 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19011 = load ptr, ptr %v19010, !invariant.load !0
  %v19012 = getelementptr inbounds i8, ptr %v19011, i64 3702784
  %v19013 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19014 = load ptr, ptr %v19013, !invariant.load !0
  %v19015 = getelementptr inbounds i8, ptr %v19014, i64 1146880
  %v19016 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19017 = load ptr, ptr %v19016, !invariant.load !0
  %v19018 = getelementptr inbounds i8, ptr %v19017, i64 3424256
  %v19019 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19020 = load ptr, ptr %v19019, !invariant.load !0
  %v19021 = getelementptr inbounds i8, ptr %v19020, i64 2506752
  %v19022 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19023 = load ptr, ptr %v19022, !invariant.load !0
  %v19024 = getelementptr inbounds i8, ptr %v19023, i64 294912
  call void @subtract_minimum_maximum_fusion(ptr %v18979, ptr %v18982, ptr %v18985, ptr %v18988, ptr %v18991, ptr %v18994, ptr %v18997, ptr %v19000, ptr %v19003, ptr %v19006, ptr %v19009, ptr %v19012, ptr %v19015, ptr %v19018, ptr %v19021, ptr %v19024)
  %v19025 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19026 = load ptr, ptr %v19025, !invariant.load !0
  %v19027 = getelementptr inbounds i8, ptr %v19026, i64 2097152
  %v19028 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19029 = load ptr, ptr %v19028, !invariant.load !0
  %v19030 = getelementptr inbounds i8, ptr %v19029, i64 2621440
  %v19031 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19032 = load ptr, ptr %v19031, !invariant.load !0
  %v19033 = getelementptr inbounds i8, ptr %v19032, i64 1048576
  %v19034 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19035 = load ptr, ptr %v19034, !invariant.load !0
  %v19036 = getelementptr inbounds i8, ptr %v19035, i64 3670016
  %v19037 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19038 = load ptr, ptr %v19037, !invariant.load !0
  %v19039 = getelementptr inbounds i8, ptr %v19038, i64 1523712
  %v19040 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19041 = load ptr, ptr %v19040, !invariant.load !0
  %v19042 = getelementptr inbounds i8, ptr %v19041, i64 2736128
  %v19043 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19044 = load ptr, ptr %v19043, !invariant.load !0
  %v19045 = getelementptr inbounds i8, ptr %v19044, i64 1245184
  %v19046 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19047 = load ptr, ptr %v19046, !invariant.load !0
  %v19048 = getelementptr inbounds i8, ptr %v19047, i64 3948544
  %v19049 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19050 = load ptr, ptr %v19049, !invariant.load !0
  %v19051 = getelementptr inbounds i8, ptr %v19050, i64 4587520
  %v19052 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19053 = load ptr, ptr %v19052, !invariant.load !0
  %v19054 = getelementptr inbounds i8, ptr %v19053, i64 278528
  %v19055 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19056 = load ptr, ptr %v19055, !invariant.load !0
  %v19057 = getelementptr inbounds i8, ptr %v19056, i64 4554752
  call void @multiply_maximum_add_fusion_7(ptr %v19027, ptr %v19030, ptr %v19033, ptr %v19036, ptr %v19039, ptr %v19042, ptr %v19045, ptr %v19048, ptr %v19051, ptr %v19054, ptr %v19057)
  %v19058 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19059 = load ptr, ptr %v19058, !invariant.load !0
  %v19060 = getelementptr inbounds i8, ptr %v19059, i64 6356992
  %v19061 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19062 = load ptr, ptr %v19061, !invariant.load !0
  %v19063 = getelementptr inbounds i8, ptr %v19062, i64 3031040
  %v19064 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19065 = load ptr, ptr %v19064, !invariant.load !0
  %v19066 = getelementptr inbounds i8, ptr %v19065, i64 4374528
  %v19067 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19068 = load ptr, ptr %v19067, !invariant.load !0
  %v19069 = getelementptr inbounds i8, ptr %v19068, i64 3801088
  %v19070 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19071 = load ptr, ptr %v19070, !invariant.load !0
  %v19072 = getelementptr inbounds i8, ptr %v19071, i64 475136
  %v19073 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19074 = load ptr, ptr %v19073, !invariant.load !0
  %v19075 = getelementptr inbounds i8, ptr %v19074, i64 2703360
  %v19076 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19077 = load ptr, ptr %v19076, !invariant.load !0
  %v19078 = getelementptr inbounds i8, ptr %v19077, i64 3391488
  %v19079 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19080 = load ptr, ptr %v19079, !invariant.load !0
  %v19081 = getelementptr inbounds i8, ptr %v19080, i64 1343488
  %v19082 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19083 = load ptr, ptr %v19082, !invariant.load !0
  %v19084 = getelementptr inbounds i8, ptr %v19083, i64 1523712
  %v19085 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19086 = load ptr, ptr %v19085, !invariant.load !0
  %v19087 = getelementptr inbounds i8, ptr %v19086, i64 1081344
  %v19088 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19089 = load ptr, ptr %v19088, !invariant.load !0
  %v19090 = getelementptr inbounds i8, ptr %v19089, i64 4917248
  %v19091 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19092 = load ptr, ptr %v19091, !invariant.load !0
  %v19093 = getelementptr inbounds i8, ptr %v19092, i64 16384
  %v19094 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19095 = load ptr, ptr %v19094, !invariant.load !0
  %v19096 = getelementptr inbounds i8, ptr %v19095, i64 49152
  %v19097 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19098 = load ptr, ptr %v19097, !invariant.load !0
  %v19099 = getelementptr inbounds i8, ptr %v19098, i64 180224
  call void @maximum_multiply_subtract_add_fusion(ptr %v19060, ptr %v19063, ptr %v19066, ptr %v19069, ptr %v19072, ptr %v19075, ptr %v19078, ptr %v19081, ptr %v19084, ptr %v19087, ptr %v19090, ptr %v19093, ptr %v19096, ptr %v19099)
  %v19100 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19101 = load ptr, ptr %v19100, !invariant.load !0
  %v19102 = getelementptr inbounds i8, ptr %v19101, i64 868352
  %v19103 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19104 = load ptr, ptr %v19103, !invariant.load !0
  %v19105 = getelementptr inbounds i8, ptr %v19104, i64 671744
  %v19106 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19107 = load ptr, ptr %v19106, !invariant.load !0
  %v19108 = getelementptr inbounds i8, ptr %v19107, i64 1474560
  %v19109 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19110 = load ptr, ptr %v19109, !invariant.load !0
  %v19111 = getelementptr inbounds i8, ptr %v19110, i64 4047616
  %v19112 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19113 = load ptr, ptr %v19112, !invariant.load !0
  %v19114 = getelementptr inbounds i8, ptr %v19113, i64 4751360
  %v19115 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19116 = load ptr, ptr %v19115, !invariant.load !0
  %v19117 = getelementptr inbounds i8, ptr %v19116, i64 851968
  %v19118 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19119 = load ptr, ptr %v19118, !invariant.load !0
  %v19120 = getelementptr inbounds i8, ptr %v19119, i64 2965504
  %v19121 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19122 = load ptr, ptr %v19121, !invariant.load !0
  %v19123 = getelementptr inbounds i8, ptr %v19122, i64 3276800
  %v19124 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19125 = load ptr, ptr %v19124, !invariant.load !0
  %v19126 = getelementptr inbounds i8, ptr %v19125, i64 229376
  %v19127 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19128 = load ptr, ptr %v19127, !invariant.load !0
  %v19129 = getelementptr inbounds i8, ptr %v19128, i64 1490944
  %v19130 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19131 = load ptr, ptr %v19130, !invariant.load !0
  %v19132 = getelementptr inbounds i8, ptr %v19131, i64 1523712
  %v19133 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19134 = load ptr, ptr %v19133, !invariant.load !0
  %v19135 = getelementptr inbounds i8, ptr %v19134, i64 1867776
  %v19136 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19137 = load ptr, ptr %v19136, !invariant.load !0
  %v19138 = getelementptr inbounds i8, ptr %v19137, i64 3211264
  call void @tanh_minimum_multiply_add_fusion_3(ptr %v19102, ptr %v19105, ptr %v19108, ptr %v19111, ptr %v19114, ptr %v19117, ptr %v19120, ptr %v19123, ptr %v19126, ptr %v19129, ptr %v19132, ptr %v19135, ptr %v19138)
  %v19139 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19140 = load ptr, ptr %v19139, !invariant.load !0
  %v19141 = getelementptr inbounds i8, ptr %v19140, i64 2277376
  %v19142 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19143 = load ptr, ptr %v19142, !invariant.load !0
  %v19144 = getelementptr inbounds i8, ptr %v19143, i64 4210688
  %v19145 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19146 = load ptr, ptr %v19145, !invariant.load !0
  %v19147 = getelementptr inbounds i8, ptr %v19146, i64 4472832
  call void @subtract_multiply_fusion_145(ptr %v19141, ptr %v19144, ptr %v19147)
  %v19148 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19149 = load ptr, ptr %v19148, !invariant.load !0
  %v19150 = getelementptr inbounds i8, ptr %v19149, i64 638976
  %v19151 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19152 = load ptr, ptr %v19151, !invariant.load !0
  %v19153 = getelementptr inbounds i8, ptr %v19152, i64 2031616
  %v19154 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19155 = load ptr, ptr %v19154, !invariant.load !0
  %v19156 = getelementptr inbounds i8, ptr %v19155, i64 229376
  %v19157 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19158 = load ptr, ptr %v19157, !invariant.load !0
  %v19159 = getelementptr inbounds i8, ptr %v19158, i64 3457024
  %v19160 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19161 = load ptr, ptr %v19160, !invariant.load !0
  %v19162 = getelementptr inbounds i8, ptr %v19161, i64 196608
  %v19163 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19164 = load ptr, ptr %v19163, !invariant.load !0
  %v19165 = getelementptr inbounds i8, ptr %v19164, i64 294912
  call void @subtract_tanh_minimum_fusion_1(ptr %v19150, ptr %v19153, ptr %v19156, ptr %v19159, ptr %v19162, ptr %v19165)
  %v19166 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19167 = load ptr, ptr %v19166, !invariant.load !0
  %v19168 = getelementptr inbounds i8, ptr %v19167, i64 4325376
  %v19169 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19170 = load ptr, ptr %v19169, !invariant.load !0
  %v19171 = getelementptr inbounds i8, ptr %v19170, i64 4194304
  %v19172 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19173 = load ptr, ptr %v19172, !invariant.load !0
  %v19174 = getelementptr inbounds i8, ptr %v19173, i64 3342336
  %v19175 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19176 = load ptr, ptr %v19175, !invariant.load !0
  %v19177 = getelementptr inbounds i8, ptr %v19176, i64 770048
  %v19178 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19179 = load ptr, ptr %v19178, !invariant.load !0
  %v19180 = getelementptr inbounds i8, ptr %v19179, i64 2408448
  %v19181 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19182 = load ptr, ptr %v19181, !invariant.load !0
  %v19183 = getelementptr inbounds i8, ptr %v19182, i64 4849664
  %v19184 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19185 = load ptr, ptr %v19184, !invariant.load !0
  %v19186 = getelementptr inbounds i8, ptr %v19185, i64 3080192
  %v19187 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19188 = load ptr, ptr %v19187, !invariant.load !0
  %v19189 = getelementptr inbounds i8, ptr %v19188, i64 802816
  %v19190 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19191 = load ptr, ptr %v19190, !invariant.load !0
  %v19192 = getelementptr inbounds i8, ptr %v19191, i64 1622016
  %v19193 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19194 = load ptr, ptr %v19193, !invariant.load !0
  %v19195 = getelementptr inbounds i8, ptr %v19194, i64 1949696
  %v19196 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19197 = load ptr, ptr %v19196, !invariant.load !0
  %v19198 = getelementptr inbounds i8, ptr %v19197, i64 4587520
  %v19199 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19200 = load ptr, ptr %v19199, !invariant.load !0
  %v19201 = getelementptr inbounds i8, ptr %v19200, i64 2998272
  %v19202 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19203 = load ptr, ptr %v19202, !invariant.load !0
  %v19204 = getelementptr inbounds i8, ptr %v19203, i64 1163264
  %v19205 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19206 = load ptr, ptr %v19205, !invariant.load !0
  %v19207 = getelementptr inbounds i8, ptr %v19206, i64 3571712
  %v19208 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19209 = load ptr, ptr %v19208, !invariant.load !0
  %v19210 = getelementptr inbounds i8, ptr %v19209, i64 638976
  call void @tanh_add_multiply_subtract_fusion_1(ptr %v19168, ptr %v19171, ptr %v19174, ptr %v19177, ptr %v19180, ptr %v19183, ptr %v19186, ptr %v19189, ptr %v19192, ptr %v19195, ptr %v19198, ptr %v19201, ptr %v19204, ptr %v19207, ptr %v19210)
  %v19211 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19212 = load ptr, ptr %v19211, !invariant.load !0
  %v19213 = getelementptr inbounds i8, ptr %v19212, i64 6062080
  %v19214 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19215 = load ptr, ptr %v19214, !invariant.load !0
  %v19216 = getelementptr inbounds i8, ptr %v19215, i64 2129920
  %v19217 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19218 = load ptr, ptr %v19217, !invariant.load !0
  %v19219 = getelementptr inbounds i8, ptr %v19218, i64 2179072
  %v19220 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19221 = load ptr, ptr %v19220, !invariant.load !0
  %v19222 = getelementptr inbounds i8, ptr %v19221, i64 3866624
  %v19223 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19224 = load ptr, ptr %v19223, !invariant.load !0
  %v19225 = getelementptr inbounds i8, ptr %v19224, i64 4784128
  %v19226 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19227 = load ptr, ptr %v19226, !invariant.load !0
  %v19228 = getelementptr inbounds i8, ptr %v19227, i64 2621440
  %v19229 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19230 = load ptr, ptr %v19229, !invariant.load !0
  %v19231 = getelementptr inbounds i8, ptr %v19230, i64 2719744
  %v19232 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19233 = load ptr, ptr %v19232, !invariant.load !0
  %v19234 = getelementptr inbounds i8, ptr %v19233, i64 327680
  %v19235 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19236 = load ptr, ptr %v19235, !invariant.load !0
  %v19237 = getelementptr inbounds i8, ptr %v19236, i64 409600
  %v19238 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19239 = load ptr, ptr %v19238, !invariant.load !0
  %v19240 = getelementptr inbounds i8, ptr %v19239, i64 966656
  call void @maximum_multiply_tanh_add_fusion_1(ptr %v19213, ptr %v19216, ptr %v19219, ptr %v19222, ptr %v19225, ptr %v19228, ptr %v19231, ptr %v19234, ptr %v19237, ptr %v19240)
  ret i32 0
}

define hidden i32 @xe_entry_part20(ptr noalias %arguments) nounwind optnone noinline "optimization-level"="final" {
entry:
  %slot19691 = alloca ptr, i64 63, align 64
  %slot20033 = alloca ptr, i64 63, align 64
  %v19241 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19242 = load ptr, ptr %v19241, !invariant.load !0
  %v19243 = getelementptr inbounds i8, ptr %v19242, i64 737280
  %v19244 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19245 = load ptr, ptr %v19244, !invariant.load !0
  %v19246 = getelementptr inbounds i8, ptr %v19245, i64 4571136
  %v19247 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19248 = load ptr, ptr %v19247, !invariant.load !0
  %v19249 = getelementptr inbounds i8, ptr %v19248, i64 2129920
  %v19250 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19251 = load ptr, ptr %v19250, !invariant.load !0
  %v19252 = getelementptr inbounds i8, ptr %v19251, i64 1261568
  %v19253 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19254 = load ptr, ptr %v19253, !invariant.load !0
  %v19255 = getelementptr inbounds i8, ptr %v19254, i64 458752
  %v19256 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19257 = load ptr, ptr %v19256, !invariant.load !0
  %v19258 = getelementptr inbounds i8, ptr %v19257, i64 376832
  %v19259 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19260 = load ptr, ptr %v19259, !invariant.load !0
  %v19261 = getelementptr inbounds i8, ptr %v19260, i64 2097152
  %v19262 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19263 = load ptr, ptr %v19262, !invariant.load !0
  %v19264 = getelementptr inbounds i8, ptr %v19263, i64 1605632
  %v19265 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19266 = load ptr, ptr %v19265, !invariant.load !0
  %v19267 = getelementptr inbounds i8, ptr %v19266, i64 2490368
  %v19268 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19269 = load ptr, ptr %v19268, !invariant.load !0
  %v19270 = getelementptr inbounds i8, ptr %v19269, i64 163840
  %v19271 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19272 = load ptr, ptr %v19271, !invariant.load !0
  %v19273 = getelementptr inbounds i8, ptr %v19272, i64 2244608
  %v19274 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19275 = load ptr, ptr %v19274, !invariant.load !0
  %v19276 = getelementptr inbounds i8, ptr %v19275, i64 2277376
  %v19277 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19278 = load ptr, ptr %v19277, !invariant.load !0
  %v19279 = getelementptr inbounds i8, ptr %v19278, i64 2260992
  %v19280 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19281 = load ptr, ptr %v19280, !invariant.load !0
  %v19282 = getelementptr inbounds i8, ptr %v19281, i64 3784704
  %v19283 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19284 = load ptr, ptr %v19283, !invariant.load !0
  %v19285 = getelementptr inbounds i8, ptr %v19284, i64 1196032
  %v19286 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19287 = load ptr, ptr %v19286, !invariant.load !0
  %v19288 = getelementptr inbounds i8, ptr %v19287, i64 2506752
  %v19289 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19290 = load ptr, ptr %v19289, !invariant.load !0
  %v19291 = getelementptr inbounds i8, ptr %v19290, i64 3014656
  %v19292 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19293 = load ptr, ptr %v19292, !invariant.load !0
  %v19294 = getelementptr inbounds i8, ptr %v19293, i64 4620288
  %v19295 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19296 = load ptr, ptr %v19295, !invariant.load !0
  %v19297 = getelementptr inbounds i8, ptr %v19296, i64 1015808
  %v19298 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19299 = load ptr, ptr %v19298, !invariant.load !0
  %v19300 = getelementptr inbounds i8, ptr %v19299, i64 3915776
  %v19301 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19302 = load ptr, ptr %v19301, !invariant.load !0
  %v19303 = getelementptr inbounds i8, ptr %v19302, i64 6356992
  %v19304 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19305 = load ptr, ptr %v19304, !invariant.load !0
  %v19306 = getelementptr inbounds i8, ptr %v19305, i64 3391488
  %v19307 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19308 = load ptr, ptr %v19307, !invariant.load !0
  %v19309 = getelementptr inbounds i8, ptr %v19308, i64 1638400
  %v19310 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19311 = load ptr, ptr %v19310, !invariant.load !0
  %v19312 = getelementptr inbounds i8, ptr %v19311, i64 4407296
  %v19313 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19314 = load ptr, ptr %v19313, !invariant.load !0
  %v19315 = getelementptr inbounds i8, ptr %v19314, i64 3227648
  %v19316 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19317 = load ptr, ptr %v19316, !invariant.load !0
  %v19318 = getelementptr inbounds i8, ptr %v19317, i64 1458176
  %v19319 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19320 = load ptr, ptr %v19319, !invariant.load !0
  %v19321 = getelementptr inbounds i8, ptr %v19320, i64 4325376
  %v19322 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19323 = load ptr, ptr %v19322, !invariant.load !0
  %v19324 = getelementptr inbounds i8, ptr %v19323, i64 1933312
  %v19325 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19326 = load ptr, ptr %v19325, !invariant.load !0
  %v19327 = getelementptr inbounds i8, ptr %v19326, i64 4916992
  call void @add_multiply_add_fusion_5(ptr %v19243, ptr %v19246, ptr %v19249, ptr %v19252, ptr %v19255, ptr %v19258, ptr %v19261, ptr %v19264, ptr %v19267, ptr %v19270, ptr %v19273, ptr %v19276, ptr %v19279, ptr %v19282, ptr %v19285, ptr %v19288, ptr %v19291, ptr %v19294, ptr %v19297, ptr %v19300, ptr %v19303, ptr %v19306, ptr %v19309, ptr %v19312, ptr %v19315, ptr %v19318, ptr %v19321, ptr %v19324, ptr %v19327)
  %v19328 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19329 = load ptr, ptr %v19328, !invariant.load !0
  %v19330 = getelementptr inbounds i8, ptr %v19329, i64 2441216
  %v19331 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19332 = load ptr, ptr %v19331, !invariant.load !0
  %v19333 = getelementptr inbounds i8, ptr %v19332, i64 589824
  %v19334 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19335 = load ptr, ptr %v19334, !invariant.load !0
  %v19336 = getelementptr inbounds i8, ptr %v19335, i64 2146304
  %v19337 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19338 = load ptr, ptr %v19337, !invariant.load !0
  %v19339 = getelementptr inbounds i8, ptr %v19338, i64 1146880
  call void @add_multiply_reduce_fusion_1(ptr %v19330, ptr %v19333, ptr %v19336, ptr %v19339)
  %v19340 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19341 = load ptr, ptr %v19340, !invariant.load !0
  %v19342 = getelementptr inbounds i8, ptr %v19341, i64 311296
  %v19343 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19344 = load ptr, ptr %v19343, !invariant.load !0
  %v19345 = getelementptr inbounds i8, ptr %v19344, i64 1147136
  call void @reduce_fusion_110(ptr %v19342, ptr %v19345)
  %v19346 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19347 = load ptr, ptr %v19346, !invariant.load !0
  %v19348 = getelementptr inbounds i8, ptr %v19347, i64 1147136
  call void @wrapped_tanh_540(ptr %v19348)
  %v19349 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19350 = load ptr, ptr %v19349, !invariant.load !0
  %v19351 = getelementptr inbounds i8, ptr %v19350, i64 1147136
  %v19352 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19353 = load ptr, ptr %v19352, !invariant.load !0
  %v19354 = getelementptr inbounds i8, ptr %v19353, i64 163840
  call void @wrapped_broadcast_4(ptr %v19351, ptr %v19354)
  %v19355 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19356 = load ptr, ptr %v19355, !invariant.load !0
  %v19357 = getelementptr inbounds i8, ptr %v19356, i64 2211840
  %v19358 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19359 = load ptr, ptr %v19358, !invariant.load !0
  %v19360 = getelementptr inbounds i8, ptr %v19359, i64 163840
  %v19361 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19362 = load ptr, ptr %v19361, !invariant.load !0
  %v19363 = getelementptr inbounds i8, ptr %v19362, i64 311296
  call void @d73(ptr %v19357, ptr %v19360, ptr %v19363)
  %v19364 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19365 = load ptr, ptr %v19364, !invariant.load !0
  %v19366 = getelementptr inbounds i8, ptr %v19365, i64 3588096
  %v19367 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19368 = load ptr, ptr %v19367, !invariant.load !0
  %v19369 = getelementptr inbounds i8, ptr %v19368, i64 1147392
  call void @tanh_reduce_fusion_8(ptr %v19366, ptr %v19369)
  %v19370 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19371 = load ptr, ptr %v19370, !invariant.load !0
  %v19372 = getelementptr inbounds i8, ptr %v19371, i64 4358144
  %v19373 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19374 = load ptr, ptr %v19373, !invariant.load !0
  %v19375 = getelementptr inbounds i8, ptr %v19374, i64 1147648
  call void @reduce_fusion_99(ptr %v19372, ptr %v19375)
  %v19376 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19377 = load ptr, ptr %v19376, !invariant.load !0
  %v19378 = getelementptr inbounds i8, ptr %v19377, i64 1147392
  call void @wrapped_tanh_540(ptr %v19378)
  %v19379 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19380 = load ptr, ptr %v19379, !invariant.load !0
  %v19381 = getelementptr inbounds i8, ptr %v19380, i64 1147648
  call void @wrapped_tanh_540(ptr %v19381)
  %v19382 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19383 = load ptr, ptr %v19382, !invariant.load !0
  %v19384 = getelementptr inbounds i8, ptr %v19383, i64 4917504
  call void @wrapped_tanh_540(ptr %v19384)
  %v19385 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19386 = load ptr, ptr %v19385, !invariant.load !0
  %v19387 = getelementptr inbounds i8, ptr %v19386, i64 1654784
  %v19388 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19389 = load ptr, ptr %v19388, !invariant.load !0
  %v19390 = getelementptr inbounds i8, ptr %v19389, i64 1376256
  %v19391 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19392 = load ptr, ptr %v19391, !invariant.load !0
  %v19393 = getelementptr inbounds i8, ptr %v19392, i64 4833280
  call void @add_fusion(ptr %v19387, ptr %v19390, ptr %v19393)
  %v19394 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19395 = load ptr, ptr %v19394, !invariant.load !0
  %v19396 = getelementptr inbounds i8, ptr %v19395, i64 1540096
  %v19397 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19398 = load ptr, ptr %v19397, !invariant.load !0
  %v19399 = getelementptr inbounds i8, ptr %v19398, i64 1147904
  call void @reduce_fusion_99(ptr %v19396, ptr %v19399)
  %v19400 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19401 = load ptr, ptr %v19400, !invariant.load !0
  %v19402 = getelementptr inbounds i8, ptr %v19401, i64 1147904
  call void @wrapped_tanh_540(ptr %v19402)
  %v19403 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19404 = load ptr, ptr %v19403, !invariant.load !0
  %v19405 = getelementptr inbounds i8, ptr %v19404, i64 1146880
  call void @wrapped_tanh_540(ptr %v19405)
  %v19406 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19407 = load ptr, ptr %v19406, !invariant.load !0
  %v19408 = getelementptr inbounds i8, ptr %v19407, i64 819200
  %v19409 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19410 = load ptr, ptr %v19409, !invariant.load !0
  %v19411 = getelementptr inbounds i8, ptr %v19410, i64 1148160
  call void @reduce_fusion_99(ptr %v19408, ptr %v19411)
  %v19412 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19413 = load ptr, ptr %v19412, !invariant.load !0
  %v19414 = getelementptr inbounds i8, ptr %v19413, i64 1148160
  call void @wrapped_tanh_540(ptr %v19414)
  %v19415 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19416 = load ptr, ptr %v19415, !invariant.load !0
  %v19417 = getelementptr inbounds i8, ptr %v19416, i64 1147904
  %v19418 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19419 = load ptr, ptr %v19418, !invariant.load !0
  %v19420 = getelementptr inbounds i8, ptr %v19419, i64 1148416
  call void @wrapped_tanh_533(ptr %v19417, ptr %v19420)
  %v19421 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19422 = load ptr, ptr %v19421, !invariant.load !0
  %v19423 = getelementptr inbounds i8, ptr %v19422, i64 1148416
  %v19424 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19425 = load ptr, ptr %v19424, !invariant.load !0
  %v19426 = getelementptr inbounds i8, ptr %v19425, i64 1147648
  %v19427 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19428 = load ptr, ptr %v19427, !invariant.load !0
  %v19429 = getelementptr inbounds i8, ptr %v19428, i64 1148672
  call void @tanh_add_fusion_1(ptr %v19423, ptr %v19426, ptr %v19429)
  %v19430 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19431 = load ptr, ptr %v19430, !invariant.load !0
  %v19432 = getelementptr inbounds i8, ptr %v19431, i64 851968
  %v19433 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19434 = load ptr, ptr %v19433, !invariant.load !0
  %v19435 = getelementptr inbounds i8, ptr %v19434, i64 163840
  call void @wrapped_tanh_309(ptr %v19432, ptr %v19435)
  %v19436 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19437 = load ptr, ptr %v19436, !invariant.load !0
  %v19438 = getelementptr inbounds i8, ptr %v19437, i64 2228224
  %v19439 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19440 = load ptr, ptr %v19439, !invariant.load !0
  %v19441 = getelementptr inbounds i8, ptr %v19440, i64 573440
  %v19442 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19443 = load ptr, ptr %v19442, !invariant.load !0
  %v19444 = getelementptr inbounds i8, ptr %v19443, i64 376832
  call void @d73(ptr %v19438, ptr %v19441, ptr %v19444)
  %v19445 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19446 = load ptr, ptr %v19445, !invariant.load !0
  %v19447 = getelementptr inbounds i8, ptr %v19446, i64 3964928
  %v19448 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19449 = load ptr, ptr %v19448, !invariant.load !0
  %v19450 = getelementptr inbounds i8, ptr %v19449, i64 4210688
  %v19451 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19452 = load ptr, ptr %v19451, !invariant.load !0
  %v19453 = getelementptr inbounds i8, ptr %v19452, i64 589824
  call void @d73(ptr %v19447, ptr %v19450, ptr %v19453)
  %v19454 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19455 = load ptr, ptr %v19454, !invariant.load !0
  %v19456 = getelementptr inbounds i8, ptr %v19455, i64 2719744
  %v19457 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19458 = load ptr, ptr %v19457, !invariant.load !0
  %v19459 = getelementptr inbounds i8, ptr %v19458, i64 1753088
  %v19460 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19461 = load ptr, ptr %v19460, !invariant.load !0
  %v19462 = getelementptr inbounds i8, ptr %v19461, i64 1097728
  call void @d73(ptr %v19456, ptr %v19459, ptr %v19462)
  %v19463 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19464 = load ptr, ptr %v19463, !invariant.load !0
  %v19465 = getelementptr inbounds i8, ptr %v19464, i64 311296
  %v19466 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19467 = load ptr, ptr %v19466, !invariant.load !0
  %v19468 = getelementptr inbounds i8, ptr %v19467, i64 1114112
  %v19469 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19470 = load ptr, ptr %v19469, !invariant.load !0
  %v19471 = getelementptr inbounds i8, ptr %v19470, i64 4308992
  %v19472 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19473 = load ptr, ptr %v19472, !invariant.load !0
  %v19474 = getelementptr inbounds i8, ptr %v19473, i64 1753088
  %v19475 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19476 = load ptr, ptr %v19475, !invariant.load !0
  %v19477 = getelementptr inbounds i8, ptr %v19476, i64 1097728
  %v19478 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19479 = load ptr, ptr %v19478, !invariant.load !0
  %v19480 = getelementptr inbounds i8, ptr %v19479, i64 4866048
  %v19481 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19482 = load ptr, ptr %v19481, !invariant.load !0
  %v19483 = getelementptr inbounds i8, ptr %v19482, i64 3670016
  %v19484 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19485 = load ptr, ptr %v19484, !invariant.load !0
  %v19486 = getelementptr inbounds i8, ptr %v19485, i64 1148160
  %v19487 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19488 = load ptr, ptr %v19487, !invariant.load !0
  %v19489 = getelementptr inbounds i8, ptr %v19488, i64 1310720
  %v19490 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19491 = load ptr, ptr %v19490, !invariant.load !0
  %v19492 = getelementptr inbounds i8, ptr %v19491, i64 3604480
  %v19493 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19494 = load ptr, ptr %v19493, !invariant.load !0
  %v19495 = getelementptr inbounds i8, ptr %v19494, i64 638976
  %v19496 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19497 = load ptr, ptr %v19496, !invariant.load !0
  %v19498 = getelementptr inbounds i8, ptr %v19497, i64 4751360
  %v19499 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19500 = load ptr, ptr %v19499, !invariant.load !0
  %v19501 = getelementptr inbounds i8, ptr %v19500, i64 1147392
  %v19502 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19503 = load ptr, ptr %v19502, !invariant.load !0
  %v19504 = getelementptr inbounds i8, ptr %v19503, i64 1130496
  call void @tanh_maximum_add_fusion_4(ptr %v19465, ptr %v19468, ptr %v19471, ptr %v19474, ptr %v19477, ptr %v19480, ptr %v19483, ptr %v19486, ptr %v19489, ptr %v19492, ptr %v19495, ptr %v19498, ptr %v19501, ptr %v19504)
  %v19505 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19506 = load ptr, ptr %v19505, !invariant.load !0
  %v19507 = getelementptr inbounds i8, ptr %v19506, i64 1148672
  %v19508 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19509 = load ptr, ptr %v19508, !invariant.load !0
  %v19510 = getelementptr inbounds i8, ptr %v19509, i64 1327104
  %v19511 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19512 = load ptr, ptr %v19511, !invariant.load !0
  %v19513 = getelementptr inbounds i8, ptr %v19512, i64 1228800
  %v19514 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19515 = load ptr, ptr %v19514, !invariant.load !0
  %v19516 = getelementptr inbounds i8, ptr %v19515, i64 2850816
  %v19517 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19518 = load ptr, ptr %v19517, !invariant.load !0
  %v19519 = getelementptr inbounds i8, ptr %v19518, i64 2064384
  %v19520 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19521 = load ptr, ptr %v19520, !invariant.load !0
  %v19522 = getelementptr inbounds i8, ptr %v19521, i64 1245184
  %v19523 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19524 = load ptr, ptr %v19523, !invariant.load !0
  %v19525 = getelementptr inbounds i8, ptr %v19524, i64 1916928
  %v19526 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19527 = load ptr, ptr %v19526, !invariant.load !0
  %v19528 = getelementptr inbounds i8, ptr %v19527, i64 65536
  %v19529 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19530 = load ptr, ptr %v19529, !invariant.load !0
  %v19531 = getelementptr inbounds i8, ptr %v19530, i64 1622016
  %v19532 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19533 = load ptr, ptr %v19532, !invariant.load !0
  %v19534 = getelementptr inbounds i8, ptr %v19533, i64 4833280
  %v19535 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19536 = load ptr, ptr %v19535, !invariant.load !0
  %v19537 = getelementptr inbounds i8, ptr %v19536, i64 245760
  %v19538 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19539 = load ptr, ptr %v19538, !invariant.load !0
  %v19540 = getelementptr inbounds i8, ptr %v19539, i64 1147904
  %v19541 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19542 = load ptr, ptr %v19541, !invariant.load !0
  %v19543 = getelementptr inbounds i8, ptr %v19542, i64 4751360
  %v19544 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19545 = load ptr, ptr %v19544, !invariant.load !0
  %v19546 = getelementptr inbounds i8, ptr %v19545, i64 1147392
  %v19547 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19548 = load ptr, ptr %v19547, !invariant.load !0
  %v19549 = getelementptr inbounds i8, ptr %v19548, i64 163840
  %v19550 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19551 = load ptr, ptr %v19550, !invariant.load !0
  %v19552 = getelementptr inbounds i8, ptr %v19551, i64 311296
  %v19553 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19554 = load ptr, ptr %v19553, !invariant.load !0
  %v19555 = getelementptr inbounds i8, ptr %v19554, i64 4849664
  %v19556 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19557 = load ptr, ptr %v19556, !invariant.load !0
  %v19558 = getelementptr inbounds i8, ptr %v19557, i64 3801088
  %v19559 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19560 = load ptr, ptr %v19559, !invariant.load !0
  %v19561 = getelementptr inbounds i8, ptr %v19560, i64 4014080
  %v19562 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19563 = load ptr, ptr %v19562, !invariant.load !0
  %v19564 = getelementptr inbounds i8, ptr %v19563, i64 1753088
  %v19565 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19566 = load ptr, ptr %v19565, !invariant.load !0
  %v19567 = getelementptr inbounds i8, ptr %v19566, i64 1441792
  %v19568 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19569 = load ptr, ptr %v19568, !invariant.load !0
  %v19570 = getelementptr inbounds i8, ptr %v19569, i64 3964928
  %v19571 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19572 = load ptr, ptr %v19571, !invariant.load !0
  %v19573 = getelementptr inbounds i8, ptr %v19572, i64 671744
  %v19574 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19575 = load ptr, ptr %v19574, !invariant.load !0
  %v19576 = getelementptr inbounds i8, ptr %v19575, i64 1884160
  %v19577 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19578 = load ptr, ptr %v19577, !invariant.load !0
  %v19579 = getelementptr inbounds i8, ptr %v19578, i64 4308992
  %v19580 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19581 = load ptr, ptr %v19580, !invariant.load !0
  %v19582 = getelementptr inbounds i8, ptr %v19581, i64 1081344
  %v19583 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19584 = load ptr, ptr %v19583, !invariant.load !0
  %v19585 = getelementptr inbounds i8, ptr %v19584, i64 3342336
  %v19586 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19587 = load ptr, ptr %v19586, !invariant.load !0
  %v19588 = getelementptr inbounds i8, ptr %v19587, i64 4917504
  %v19589 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19590 = load ptr, ptr %v19589, !invariant.load !0
  %v19591 = getelementptr inbounds i8, ptr %v19590, i64 1556480
  %v19592 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19593 = load ptr, ptr %v19592, !invariant.load !0
  %v19594 = getelementptr inbounds i8, ptr %v19593, i64 2293760
  %v19595 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19596 = load ptr, ptr %v19595, !invariant.load !0
  %v19597 = getelementptr inbounds i8, ptr %v19596, i64 589824
  %v19598 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19599 = load ptr, ptr %v19598, !invariant.load !0
  %v19600 = getelementptr inbounds i8, ptr %v19599, i64 1458176
  %v19601 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19602 = load ptr, ptr %v19601, !invariant.load !0
  %v19603 = getelementptr inbounds i8, ptr %v19602, i64 4587520
  %v19604 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19605 = load ptr, ptr %v19604, !invariant.load !0
  %v19606 = getelementptr inbounds i8, ptr %v19605, i64 2392064
  %v19607 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19608 = load ptr, ptr %v19607, !invariant.load !0
  %v19609 = getelementptr inbounds i8, ptr %v19608, i64 704512
  %v19610 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19611 = load ptr, ptr %v19610, !invariant.load !0
  %v19612 = getelementptr inbounds i8, ptr %v19611, i64 6324224
  %v19613 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19614 = load ptr, ptr %v19613, !invariant.load !0
  %v19615 = getelementptr inbounds i8, ptr %v19614, i64 2572288
  %v19616 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19617 = load ptr, ptr %v19616, !invariant.load !0
  %v19618 = getelementptr inbounds i8, ptr %v19617, i64 524288
  %v19619 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19620 = load ptr, ptr %v19619, !invariant.load !0
  %v19621 = getelementptr inbounds i8, ptr %v19620, i64 1654784
  %v19622 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19623 = load ptr, ptr %v19622, !invariant.load !0
  %v19624 = getelementptr inbounds i8, ptr %v19623, i64 622592
  %v19625 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19626 = load ptr, ptr %v19625, !invariant.load !0
  %v19627 = getelementptr inbounds i8, ptr %v19626, i64 1474560
  %v19628 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19629 = load ptr, ptr %v19628, !invariant.load !0
  %v19630 = getelementptr inbounds i8, ptr %v19629, i64 1146880
  %v19631 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19632 = load ptr, ptr %v19631, !invariant.load !0
  %v19633 = getelementptr inbounds i8, ptr %v19632, i64 3571712
  %v19634 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19635 = load ptr, ptr %v19634, !invariant.load !0
  %v19636 = getelementptr inbounds i8, ptr %v19635, i64 376832
  %v19637 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19638 = load ptr, ptr %v19637, !invariant.load !0
  %v19639 = getelementptr inbounds i8, ptr %v19638, i64 4161536
  %v19640 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19641 = load ptr, ptr %v19640, !invariant.load !0
  %v19642 = getelementptr inbounds i8, ptr %v19641, i64 2867200
  %v19643 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19644 = load ptr, ptr %v19643, !invariant.load !0
  %v19645 = getelementptr inbounds i8, ptr %v19644, i64 3866624
  %v19646 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19647 = load ptr, ptr %v19646, !invariant.load !0
  %v19648 = getelementptr inbounds i8, ptr %v19647, i64 2179072
  %v19649 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19650 = load ptr, ptr %v19649, !invariant.load !0
  %v19651 = getelementptr inbounds i8, ptr %v19650, i64 2473984
  %v19652 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19653 = load ptr, ptr %v19652, !invariant.load !0
  %v19654 = getelementptr inbounds i8, ptr %v19653, i64 3047424
  %v19655 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19656 = load ptr, ptr %v19655, !invariant.load !0
  %v19657 = getelementptr inbounds i8, ptr %v19656, i64 2375680
  %v19658 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19659 = load ptr, ptr %v19658, !invariant.load !0
  %v19660 = getelementptr inbounds i8, ptr %v19659, i64 393216
  %v19661 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19662 = load ptr, ptr %v19661, !invariant.load !0
  %v19663 = getelementptr inbounds i8, ptr %v19662, i64 2768896
  %v19664 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19665 = load ptr, ptr %v19664, !invariant.load !0
  %v19666 = getelementptr inbounds i8, ptr %v19665, i64 4423680
  %v19667 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19668 = load ptr, ptr %v19667, !invariant.load !0
  %v19669 = getelementptr inbounds i8, ptr %v19668, i64 4767744
  %v19670 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19671 = load ptr, ptr %v19670, !invariant.load !0
  %v19672 = getelementptr inbounds i8, ptr %v19671, i64 737280
  %v19673 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19674 = load ptr, ptr %v19673, !invariant.load !0
  %v19675 = getelementptr inbounds i8, ptr %v19674, i64 540672
  %v19676 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19677 = load ptr, ptr %v19676, !invariant.load !0
  %v19678 = getelementptr inbounds i8, ptr %v19677, i64 491520
  %v19679 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19680 = load ptr, ptr %v19679, !invariant.load !0
  %v19681 = getelementptr inbounds i8, ptr %v19680, i64 4194304
  %v19682 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19683 = load ptr, ptr %v19682, !invariant.load !0
  %v19684 = getelementptr inbounds i8, ptr %v19683, i64 3145728
  %v19685 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19686 = load ptr, ptr %v19685, !invariant.load !0
  %v19687 = getelementptr inbounds i8, ptr %v19686, i64 4046848
  %v19688 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19689 = load ptr, ptr %v19688, !invariant.load !0
  %v19690 = getelementptr inbounds i8, ptr %v19689, i64 4047616
  %v19692 = getelementptr inbounds ptr, ptr %slot19691, i64 0
  store ptr %v19507, ptr %v19692, align 8
  %v19693 = getelementptr inbounds ptr, ptr %slot19691, i64 1
  store ptr %v19510, ptr %v19693, align 8
  %v19694 = getelementptr inbounds ptr, ptr %slot19691, i64 2
  store ptr %v19513, ptr %v19694, align 8
  %v19695 = getelementptr inbounds ptr, ptr %slot19691, i64 3
  store ptr %v19516, ptr %v19695, align 8
  %v19696 = getelementptr inbounds ptr, ptr %slot19691, i64 4
  store ptr %v19519, ptr %v19696, align 8
  %v19697 = getelementptr inbounds ptr, ptr %slot19691, i64 5
  store ptr %v19522, ptr %v19697, align 8
  %v19698 = getelementptr inbounds ptr, ptr %slot19691, i64 6
  store ptr %v19525, ptr %v19698, align 8
  %v19699 = getelementptr inbounds ptr, ptr %slot19691, i64 7
  store ptr %v19528, ptr %v19699, align 8
  %v19700 = getelementptr inbounds ptr, ptr %slot19691, i64 8
  store ptr %v19531, ptr %v19700, align 8
  %v19701 = getelementptr inbounds ptr, ptr %slot19691, i64 9
  store ptr %v19534, ptr %v19701, align 8
  %v19702 = getelementptr inbounds ptr, ptr %slot19691, i64 10
  store ptr %v19537, ptr %v19702, align 8
  %v19703 = getelementptr inbounds ptr, ptr %slot19691, i64 11
  store ptr %v19540, ptr %v19703, align 8
  %v19704 = getelementptr inbounds ptr, ptr %slot19691, i64 12
  store ptr %v19543, ptr %v19704, align 8
  %v19705 = getelementptr inbounds ptr, ptr %slot19691, i64 13
  store ptr %v19546, ptr %v19705, align 8
  %v19706 = getelementptr inbounds ptr, ptr %slot19691, i64 14
  store ptr %v19549, ptr %v19706, align 8
  %v19707 = getelementptr inbounds ptr, ptr %slot19691, i64 15
  store ptr %v19552, ptr %v19707, align 8
  %v19708 = getelementptr inbounds ptr, ptr %slot19691, i64 16
  store ptr %v19555, ptr %v19708, align 8
  %v19709 = getelementptr inbounds ptr, ptr %slot19691, i64 17
  store ptr %v19558, ptr %v19709, align 8
  %v19710 = getelementptr inbounds ptr, ptr %slot19691, i64 18
  store ptr %v19561, ptr %v19710, align 8
  %v19711 = getelementptr inbounds ptr, ptr %slot19691, i64 19
  store ptr %v19564, ptr %v19711, align 8
  %v19712 = getelementptr inbounds ptr, ptr %slot19691, i64 20
  store ptr %v19567, ptr %v19712, align 8
  %v19713 = getelementptr inbounds ptr, ptr %slot19691, i64 21
  store ptr %v19570, ptr %v19713, align 8
  %v19714 = getelementptr inbounds ptr, ptr %slot19691, i64 22
  store ptr %v19573, ptr %v19714, align 8
  %v19715 = getelementptr inbounds ptr, ptr %slot19691, i64 23
  store ptr %v19576, ptr %v19715, align 8
  %v19716 = getelementptr inbounds ptr, ptr %slot19691, i64 24
  store ptr %v19579, ptr %v19716, align 8
  %v19717 = getelementptr inbounds ptr, ptr %slot19691, i64 25
  store ptr %v19582, ptr %v19717, align 8
  %v19718 = getelementptr inbounds ptr, ptr %slot19691, i64 26
  store ptr %v19585, ptr %v19718, align 8
  %v19719 = getelementptr inbounds ptr, ptr %slot19691, i64 27
  store ptr %v19588, ptr %v19719, align 8
  %v19720 = getelementptr inbounds ptr, ptr %slot19691, i64 28
  store ptr %v19591, ptr %v19720, align 8
  %v19721 = getelementptr inbounds ptr, ptr %slot19691, i64 29
  store ptr %v19594, ptr %v19721, align 8
  %v19722 = getelementptr inbounds ptr, ptr %slot19691, i64 30
  store ptr %v19597, ptr %v19722, align 8
  %v19723 = getelementptr inbounds ptr, ptr %slot19691, i64 31
  store ptr %v19600, ptr %v19723, align 8
  %v19724 = getelementptr inbounds ptr, ptr %slot19691, i64 32
  store ptr %v19603, ptr %v19724, align 8
  %v19725 = getelementptr inbounds ptr, ptr %slot19691, i64 33
  store ptr %v19606, ptr %v19725, align 8
  %v19726 = getelementptr inbounds ptr, ptr %slot19691, i64 34
  store ptr %v19609, ptr %v19726, align 8
  %v19727 = getelementptr inbounds ptr, ptr %slot19691, i64 35
  store ptr %v19612, ptr %v19727, align 8
  %v19728 = getelementptr inbounds ptr, ptr %slot19691, i64 36
  store ptr %v19615, ptr %v19728, align 8
  %v19729 = getelementptr inbounds ptr, ptr %slot19691, i64 37
  store ptr %v19618, ptr %v19729, align 8
  %v19730 = getelementptr inbounds ptr, ptr %slot19691, i64 38
  store ptr %v19621, ptr %v19730, align 8
  %v19731 = getelementptr inbounds ptr, ptr %slot19691, i64 39
  store ptr %v19624, ptr %v19731, align 8
  %v19732 = getelementptr inbounds ptr, ptr %slot19691, i64 40
  store ptr %v19627, ptr %v19732, align 8
  %v19733 = getelementptr inbounds ptr, ptr %slot19691, i64 41
  store ptr %v19630, ptr %v19733, align 8
  %v19734 = getelementptr inbounds ptr, ptr %slot19691, i64 42
  store ptr %v19633, ptr %v19734, align 8
  %v19735 = getelementptr inbounds ptr, ptr %slot19691, i64 43
  store ptr %v19636, ptr %v19735, align 8
  %v19736 = getelementptr inbounds ptr, ptr %slot19691, i64 44
  store ptr %v19639, ptr %v19736, align 8
  %v19737 = getelementptr inbounds ptr, ptr %slot19691, i64 45
  store ptr %v19642, ptr %v19737, align 8
  %v19738 = getelementptr inbounds ptr, ptr %slot19691, i64 46
  store ptr %v19645, ptr %v19738, align 8
  %v19739 = getelementptr inbounds ptr, ptr %slot19691, i64 47
  store ptr %v19648, ptr %v19739, align 8
  %v19740 = getelementptr inbounds ptr, ptr %slot19691, i64 48
  store ptr %v19651, ptr %v19740, align 8
  %v19741 = getelementptr inbounds ptr, ptr %slot19691, i64 49
  store ptr %v19654, ptr %v19741, align 8
  %v19742 = getelementptr inbounds ptr, ptr %slot19691, i64 50
  store ptr %v19657, ptr %v19742, align 8
  %v19743 = getelementptr inbounds ptr, ptr %slot19691, i64 51
  store ptr %v19660, ptr %v19743, align 8
  %v19744 = getelementptr inbounds ptr, ptr %slot19691, i64 52
  store ptr %v19663, ptr %v19744, align 8
  %v19745 = getelementptr inbounds ptr, ptr %slot19691, i64 53
  store ptr %v19666, ptr %v19745, align 8
  %v19746 = getelementptr inbounds ptr, ptr %slot19691, i64 54
  store ptr %v19669, ptr %v19746, align 8
  %v19747 = getelementptr inbounds ptr, ptr %slot19691, i64 55
  store ptr %v19672, ptr %v19747, align 8
  %v19748 = getelementptr inbounds ptr, ptr %slot19691, i64 56
  store ptr %v19675, ptr %v19748, align 8
  %v19749 = getelementptr inbounds ptr, ptr %slot19691, i64 57
  store ptr %v19678, ptr %v19749, align 8
  %v19750 = getelementptr inbounds ptr, ptr %slot19691, i64 58
  store ptr %v19681, ptr %v19750, align 8
  %v19751 = getelementptr inbounds ptr, ptr %slot19691, i64 59
  store ptr %v19684, ptr %v19751, align 8
  %v19752 = getelementptr inbounds ptr, ptr %slot19691, i64 60
  store ptr %v19687, ptr %v19752, align 8
  %v19753 = getelementptr inbounds ptr, ptr %slot19691, i64 61
  store ptr %v19690, ptr %v19753, align 8
  call void @xla_explorer_parallel_for(ptr @add_tanh_add_fusion_1_task, ptr %slot19691, i64 4)
  %v19754 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19755 = load ptr, ptr %v19754, !invariant.load !0
  %v19756 = getelementptr inbounds i8, ptr %v19755, i64 3342336
  %v19757 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19758 = load ptr, ptr %v19757, !invariant.load !0
  %v19759 = getelementptr inbounds i8, ptr %v19758, i64 2162688
  %v19760 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19761 = load ptr, ptr %v19760, !invariant.load !0
  %v19762 = getelementptr inbounds i8, ptr %v19761, i64 4440064
  %v19763 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19764 = load ptr, ptr %v19763, !invariant.load !0
  %v19765 = getelementptr inbounds i8, ptr %v19764, i64 2359296
  %v19766 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19767 = load ptr, ptr %v19766, !invariant.load !0
  %v19768 = getelementptr inbounds i8, ptr %v19767, i64 4653056
  %v19769 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19770 = load ptr, ptr %v19769, !invariant.load !0
  %v19771 = getelementptr inbounds i8, ptr %v19770, i64 1769472
  %v19772 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19773 = load ptr, ptr %v19772, !invariant.load !0
  %v19774 = getelementptr inbounds i8, ptr %v19773, i64 360448
  %v19775 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19776 = load ptr, ptr %v19775, !invariant.load !0
  %v19777 = getelementptr inbounds i8, ptr %v19776, i64 1359872
  %v19778 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19779 = load ptr, ptr %v19778, !invariant.load !0
  %v19780 = getelementptr inbounds i8, ptr %v19779, i64 344064
  %v19781 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19782 = load ptr, ptr %v19781, !invariant.load !0
  %v19783 = getelementptr inbounds i8, ptr %v19782, i64 3997696
  %v19784 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19785 = load ptr, ptr %v19784, !invariant.load !0
  %v19786 = getelementptr inbounds i8, ptr %v19785, i64 966656
  %v19787 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19788 = load ptr, ptr %v19787, !invariant.load !0
  %v19789 = getelementptr inbounds i8, ptr %v19788, i64 98304
  %v19790 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19791 = load ptr, ptr %v19790, !invariant.load !0
  %v19792 = getelementptr inbounds i8, ptr %v19791, i64 3915776
  %v19793 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19794 = load ptr, ptr %v19793, !invariant.load !0
  %v19795 = getelementptr inbounds i8, ptr %v19794, i64 65536
  call void @minimum_tanh_add_maximum_fusion(ptr %v19756, ptr %v19759, ptr %v19762, ptr %v19765, ptr %v19768, ptr %v19771, ptr %v19774, ptr %v19777, ptr %v19780, ptr %v19783, ptr %v19786, ptr %v19789, ptr %v19792, ptr %v19795)
  %v19796 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19797 = load ptr, ptr %v19796, !invariant.load !0
  %v19798 = getelementptr inbounds i8, ptr %v19797, i64 4227072
  %v19799 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19800 = load ptr, ptr %v19799, !invariant.load !0
  %v19801 = getelementptr inbounds i8, ptr %v19800, i64 147456
  %v19802 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19803 = load ptr, ptr %v19802, !invariant.load !0
  %v19804 = getelementptr inbounds i8, ptr %v19803, i64 983040
  %v19805 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19806 = load ptr, ptr %v19805, !invariant.load !0
  %v19807 = getelementptr inbounds i8, ptr %v19806, i64 4653056
  %v19808 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19809 = load ptr, ptr %v19808, !invariant.load !0
  %v19810 = getelementptr inbounds i8, ptr %v19809, i64 2834432
  call void @multiply_minimum_fusion_54(ptr %v19798, ptr %v19801, ptr %v19804, ptr %v19807, ptr %v19810)
  %v19811 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19812 = load ptr, ptr %v19811, !invariant.load !0
  %v19813 = getelementptr inbounds i8, ptr %v19812, i64 2605056
  %v19814 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19815 = load ptr, ptr %v19814, !invariant.load !0
  %v19816 = getelementptr inbounds i8, ptr %v19815, i64 540672
  call void @reduce_fusion_110(ptr %v19813, ptr %v19816)
  %v19817 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19818 = load ptr, ptr %v19817, !invariant.load !0
  %v19819 = getelementptr inbounds i8, ptr %v19818, i64 540672
  call void @wrapped_tanh_540(ptr %v19819)
  %v19820 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19821 = load ptr, ptr %v19820, !invariant.load !0
  %v19822 = getelementptr inbounds i8, ptr %v19821, i64 6537216
  %v19823 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19824 = load ptr, ptr %v19823, !invariant.load !0
  %v19825 = getelementptr inbounds i8, ptr %v19824, i64 540928
  call void @reduce_fusion_99(ptr %v19822, ptr %v19825)
  %v19826 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19827 = load ptr, ptr %v19826, !invariant.load !0
  %v19828 = getelementptr inbounds i8, ptr %v19827, i64 540928
  call void @wrapped_tanh_540(ptr %v19828)
  %v19829 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19830 = load ptr, ptr %v19829, !invariant.load !0
  %v19831 = getelementptr inbounds i8, ptr %v19830, i64 4096000
  %v19832 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19833 = load ptr, ptr %v19832, !invariant.load !0
  %v19834 = getelementptr inbounds i8, ptr %v19833, i64 1064960
  %v19835 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19836 = load ptr, ptr %v19835, !invariant.load !0
  %v19837 = getelementptr inbounds i8, ptr %v19836, i64 376832
  call void @multiply_add_multiply_fusion_2(ptr %v19831, ptr %v19834, ptr %v19837)
  %v19838 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19839 = load ptr, ptr %v19838, !invariant.load !0
  %v19840 = getelementptr inbounds i8, ptr %v19839, i64 3981312
  %v19841 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19842 = load ptr, ptr %v19841, !invariant.load !0
  %v19843 = getelementptr inbounds i8, ptr %v19842, i64 2654208
  %v19844 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19845 = load ptr, ptr %v19844, !invariant.load !0
  %v19846 = getelementptr inbounds i8, ptr %v19845, i64 491520
  call void @d73(ptr %v19840, ptr %v19843, ptr %v19846)
  %v19847 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19848 = load ptr, ptr %v19847, !invariant.load !0
  %v19849 = getelementptr inbounds i8, ptr %v19848, i64 524288
  %v19850 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19851 = load ptr, ptr %v19850, !invariant.load !0
  %v19852 = getelementptr inbounds i8, ptr %v19851, i64 507904
  %v19853 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19854 = load ptr, ptr %v19853, !invariant.load !0
  %v19855 = getelementptr inbounds i8, ptr %v19854, i64 3719168
  %v19856 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19857 = load ptr, ptr %v19856, !invariant.load !0
  %v19858 = getelementptr inbounds i8, ptr %v19857, i64 3833856
  %v19859 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19860 = load ptr, ptr %v19859, !invariant.load !0
  %v19861 = getelementptr inbounds i8, ptr %v19860, i64 491520
  %v19862 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19863 = load ptr, ptr %v19862, !invariant.load !0
  %v19864 = getelementptr inbounds i8, ptr %v19863, i64 3522560
  %v19865 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19866 = load ptr, ptr %v19865, !invariant.load !0
  %v19867 = getelementptr inbounds i8, ptr %v19866, i64 753664
  %v19868 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19869 = load ptr, ptr %v19868, !invariant.load !0
  %v19870 = getelementptr inbounds i8, ptr %v19869, i64 1441792
  %v19871 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19872 = load ptr, ptr %v19871, !invariant.load !0
  %v19873 = getelementptr inbounds i8, ptr %v19872, i64 4538368
  %v19874 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19875 = load ptr, ptr %v19874, !invariant.load !0
  %v19876 = getelementptr inbounds i8, ptr %v19875, i64 688128
  %v19877 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19878 = load ptr, ptr %v19877, !invariant.load !0
  %v19879 = getelementptr inbounds i8, ptr %v19878, i64 770048
  %v19880 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19881 = load ptr, ptr %v19880, !invariant.load !0
  %v19882 = getelementptr inbounds i8, ptr %v19881, i64 163840
  %v19883 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19884 = load ptr, ptr %v19883, !invariant.load !0
  %v19885 = getelementptr inbounds i8, ptr %v19884, i64 3031040
  %v19886 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19887 = load ptr, ptr %v19886, !invariant.load !0
  %v19888 = getelementptr inbounds i8, ptr %v19887, i64 4030464
  %v19889 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19890 = load ptr, ptr %v19889, !invariant.load !0
  %v19891 = getelementptr inbounds i8, ptr %v19890, i64 1540096
  %v19892 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19893 = load ptr, ptr %v19892, !invariant.load !0
  %v19894 = getelementptr inbounds i8, ptr %v19893, i64 4571136
  %v19895 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19896 = load ptr, ptr %v19895, !invariant.load !0
  %v19897 = getelementptr inbounds i8, ptr %v19896, i64 3080192
  %v19898 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19899 = load ptr, ptr %v19898, !invariant.load !0
  %v19900 = getelementptr inbounds i8, ptr %v19899, i64 4390912
  %v19901 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19902 = load ptr, ptr %v19901, !invariant.load !0
  %v19903 = getelementptr inbounds i8, ptr %v19902, i64 2162688
  %v19904 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19905 = load ptr, ptr %v19904, !invariant.load !0
  %v19906 = getelementptr inbounds i8, ptr %v19905, i64 344064
  %v19907 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19908 = load ptr, ptr %v19907, !invariant.load !0
  %v19909 = getelementptr inbounds i8, ptr %v19908, i64 2555904
  %v19910 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19911 = load ptr, ptr %v19910, !invariant.load !0
  %v19912 = getelementptr inbounds i8, ptr %v19911, i64 1376256
  %v19913 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19914 = load ptr, ptr %v19913, !invariant.load !0
  %v19915 = getelementptr inbounds i8, ptr %v19914, i64 835584
  %v19916 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19917 = load ptr, ptr %v19916, !invariant.load !0
  %v19918 = getelementptr inbounds i8, ptr %v19917, i64 6275072
  %v19919 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19920 = load ptr, ptr %v19919, !invariant.load !0
  %v19921 = getelementptr inbounds i8, ptr %v19920, i64 2736128
  %v19922 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19923 = load ptr, ptr %v19922, !invariant.load !0
  %v19924 = getelementptr inbounds i8, ptr %v19923, i64 704512
  %v19925 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19926 = load ptr, ptr %v19925, !invariant.load !0
  %v19927 = getelementptr inbounds i8, ptr %v19926, i64 3260416
  %v19928 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19929 = load ptr, ptr %v19928, !invariant.load !0
  %v19930 = getelementptr inbounds i8, ptr %v19929, i64 1687552
  %v19931 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19932 = load ptr, ptr %v19931, !invariant.load !0
  %v19933 = getelementptr inbounds i8, ptr %v19932, i64 720896
  %v19934 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19935 = load ptr, ptr %v19934, !invariant.load !0
  %v19936 = getelementptr inbounds i8, ptr %v19935, i64 540928
  %v19937 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19938 = load ptr, ptr %v19937, !invariant.load !0
  %v19939 = getelementptr inbounds i8, ptr %v19938, i64 2605056
  %v19940 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19941 = load ptr, ptr %v19940, !invariant.load !0
  %v19942 = getelementptr inbounds i8, ptr %v19941, i64 196608
  %v19943 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19944 = load ptr, ptr %v19943, !invariant.load !0
  %v19945 = getelementptr inbounds i8, ptr %v19944, i64 1327104
  %v19946 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19947 = load ptr, ptr %v19946, !invariant.load !0
  %v19948 = getelementptr inbounds i8, ptr %v19947, i64 655360
  %v19949 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19950 = load ptr, ptr %v19949, !invariant.load !0
  %v19951 = getelementptr inbounds i8, ptr %v19950, i64 1147648
  %v19952 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19953 = load ptr, ptr %v19952, !invariant.load !0
  %v19954 = getelementptr inbounds i8, ptr %v19953, i64 4505600
  %v19955 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19956 = load ptr, ptr %v19955, !invariant.load !0
  %v19957 = getelementptr inbounds i8, ptr %v19956, i64 4227072
  %v19958 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19959 = load ptr, ptr %v19958, !invariant.load !0
  %v19960 = getelementptr inbounds i8, ptr %v19959, i64 3997696
  %v19961 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19962 = load ptr, ptr %v19961, !invariant.load !0
  %v19963 = getelementptr inbounds i8, ptr %v19962, i64 1802240
  %v19964 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19965 = load ptr, ptr %v19964, !invariant.load !0
  %v19966 = getelementptr inbounds i8, ptr %v19965, i64 1048576
  %v19967 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19968 = load ptr, ptr %v19967, !invariant.load !0
  %v19969 = getelementptr inbounds i8, ptr %v19968, i64 3457024
  %v19970 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19971 = load ptr, ptr %v19970, !invariant.load !0
  %v19972 = getelementptr inbounds i8, ptr %v19971, i64 540672
  %v19973 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19974 = load ptr, ptr %v19973, !invariant.load !0
  %v19975 = getelementptr inbounds i8, ptr %v19974, i64 819200
  %v19976 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19977 = load ptr, ptr %v19976, !invariant.load !0
  %v19978 = getelementptr inbounds i8, ptr %v19977, i64 4079616
  %v19979 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19980 = load ptr, ptr %v19979, !invariant.load !0
  %v19981 = getelementptr inbounds i8, ptr %v19980, i64 475136
  %v19982 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19983 = load ptr, ptr %v19982, !invariant.load !0
  %v19984 = getelementptr inbounds i8, ptr %v19983, i64 376832
  %v19985 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19986 = load ptr, ptr %v19985, !invariant.load !0
  %v19987 = getelementptr inbounds i8, ptr %v19986, i64 393216
  %v19988 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19989 = load ptr, ptr %v19988, !invariant.load !0
  %v19990 = getelementptr inbounds i8, ptr %v19989, i64 3244032
  %v19991 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19992 = load ptr, ptr %v19991, !invariant.load !0
  %v19993 = getelementptr inbounds i8, ptr %v19992, i64 4964352
  %v19994 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19995 = load ptr, ptr %v19994, !invariant.load !0
  %v19996 = getelementptr inbounds i8, ptr %v19995, i64 3440640
  %v19997 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v19998 = load ptr, ptr %v19997, !invariant.load !0
  %v19999 = getelementptr inbounds i8, ptr %v19998, i64 2719744
  %v20000 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v20001 = load ptr, ptr %v20000, !invariant.load !0
  %v20002 = getelementptr inbounds i8, ptr %v20001, i64 884736
  %v20003 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v20004 = load ptr, ptr %v20003, !invariant.load !0
  %v20005 = getelementptr inbounds i8, ptr %v20004, i64 1148416
  %v20006 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v20007 = load ptr, ptr %v20006, !invariant.load !0
  %v20008 = getelementptr inbounds i8, ptr %v20007, i64 3604480
  %v20009 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v20010 = load ptr, ptr %v20009, !invariant.load !0
  %v20011 = getelementptr inbounds i8, ptr %v20010, i64 917504
  %v20012 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v20013 = load ptr, ptr %v20012, !invariant.load !0
  %v20014 = getelementptr inbounds i8, ptr %v20013, i64 2260992
  %v20015 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v20016 = load ptr, ptr %v20015, !invariant.load !0
  %v20017 = getelementptr inbounds i8, ptr %v20016, i64 851968
  %v20018 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v20019 = load ptr, ptr %v20018, !invariant.load !0
  %v20020 = getelementptr inbounds i8, ptr %v20019, i64 2490368
  %v20021 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v20022 = load ptr, ptr %v20021, !invariant.load !0
  %v20023 = getelementptr inbounds i8, ptr %v20022, i64 1966080
  %v20024 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v20025 = load ptr, ptr %v20024, !invariant.load !0
  %v20026 = getelementptr inbounds i8, ptr %v20025, i64 1147904
  %v20027 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v20028 = load ptr, ptr %v20027, !invariant.load !0
  %v20029 = getelementptr inbounds i8, ptr %v20028, i64 622592
  %v20030 = getelementptr inbounds ptr, ptr %arguments, i64 625
  %v20031 = load ptr, ptr %v20030, !invariant.load !0
  %v20032 = getelementptr inbounds i8, ptr %v20031, i64 3194880
  %v20034 = getelementptr inbounds ptr, ptr %slot20033, i64 0
  store ptr %v19849, ptr %v20034, align 8
  %v20035 = getelementptr inbounds ptr, ptr %slot20033, i64 1
  store ptr %v19852, ptr %v20035, align 8
  %v20036 = getelementptr inbounds ptr, ptr %slot20033, i64 2
  store ptr %v19855, ptr %v20036, align 8
  %v20037 = getelementptr inbounds ptr, ptr %slot20033, i64 3
  store ptr %v19858, ptr %v20037, align 8
  %v20038 = getelementptr inbounds ptr, ptr %slot20033, i64 4
  store ptr %v19861, ptr %v20038, align 8
  %v20039 = getelementptr inbounds ptr, ptr %slot20033, i64 5
  store ptr %v19864, ptr %v20039, align 8
  %v20040 = getelementptr inbounds ptr, ptr %slot20033, i64 6
  store ptr %v19867, ptr %v20040, align 8
  %v20041 = getelementptr inbounds ptr, ptr %slot20033, i64 7
  store ptr %v19870, ptr %v20041, align 8
  %v20042 = getelementptr inbounds ptr, ptr %slot20033, i64 8
  store ptr %v19873, ptr %v20042, align 8
  %v20043 = getelementptr inbounds ptr, ptr %slot20033, i64 9
  store ptr %v19876, ptr %v20043, align 8
  %v20044 = getelementptr inbounds ptr, ptr %slot20033, i64 10
  store ptr %v19879, ptr %v20044, align 8
  %v20045 = getelementptr inbounds ptr, ptr %slot20033, i64 11
  store ptr %v19882, ptr %v20045, align 8
  %v20046 = getelementptr inbounds ptr, ptr %slot20033, i64 12
  store ptr %v19885, ptr %v20046, align 8
  %v20047 = getelementptr inbounds ptr, ptr %slot20033, i64 13
  store ptr %v19888, ptr %v20047, align 8
  %v20048 = getelementptr inbounds ptr, ptr %slot20033, i64 14
  store ptr %v19891, ptr %v20048, align 8
  %v20049 = getelementptr inbounds ptr, ptr %slot20033, i64 15
  store ptr %v19894, ptr %v20049, align 8
  %v20050 = getelementptr inbounds ptr, ptr %slot20033, i64 16
  store ptr %v19897, ptr %v20050, align 8
  %v20051 = getelementptr inbounds ptr, ptr %slot20033, i64 17
  store ptr %v19900, ptr %v20051, align 8
  %v20052 = getelementptr inbounds ptr, ptr %slot20033, i64 18
  store ptr %v19903, ptr %v20052, align 8
  %v20053 = getelementptr inbounds ptr, ptr %slot20033, i64 19
  store ptr %v19906, ptr %v20053, align 8
  %v20054 = getelementptr inbounds ptr, ptr %slot20033, i64 20
  store ptr %v19909, ptr %v20054, align 8
  %v20055 = getelementptr inbounds ptr, ptr %slot20033, i64 21
  store ptr %v19912, ptr %v20055, align 8
  %v20056 = getelementptr inbounds ptr, ptr %slot20033, i64 22
  store ptr %v19915, ptr %v20056, align 8
  %v20057 = getelementptr inbounds ptr, ptr %slot20033, i64 23
  store ptr %v19918, ptr %v20057, align 8
  %v20058 = getelementptr inbounds ptr, ptr %slot20033, i64 24
  store ptr %v19921, ptr %v20058, align 8
  %v20059 = getelementptr inbounds ptr, ptr %slot20033, i64 25
  store ptr %v19924, ptr %v20059, align 8
  %v20060 = getelementptr inbounds ptr, ptr %slot20033, i64 26
  store ptr %v19927, ptr %v20060, align 8
  %v20061 = getelementptr inbounds ptr, ptr %slot20033, i64 27
  store ptr %v19930, ptr %v20061, align 8
  %v20062 = getelementptr inbounds ptr, ptr %slot20033, i64 28
  store ptr %v19933, ptr %v20062, align 8
  %v20063 = getelementptr inbounds ptr, ptr %slot20033, i64 29
  store ptr %v19936, ptr %v20063, align 8
  %v20064 = getelementptr inbounds ptr, ptr %slot20033, i64 30
  store ptr %v19939, ptr %v20064, align 8
  %v20065 = getelementptr inbounds ptr, ptr %slot20033, i64 31
  store ptr %v19942, ptr %v20065, align 8
  %v20066 = getelementptr inbounds ptr, ptr %slot20033, i64 32
  store ptr %v19945, ptr %v20066, align 8
  %v20067 = getelementptr inbounds ptr, ptr %slot20033, i64 33
  store ptr %v19948, ptr %v20067, align 8
  %v20068 = getelementptr inbounds ptr, ptr %slot20033, i64 34
  store ptr %v19951, ptr %v20068, align 8
  %v20069 = getelementptr inbounds ptr, ptr %slot20033, i64 35
  store ptr %v19954, ptr %v20069, align 8
  %v20070 = getelementptr inbounds ptr, ptr %slot20033, i64 36
  store ptr %v19957, ptr %v20070, align 8
  %v20071 = getelementptr inbounds ptr, ptr %slot20033, i64 37
  store ptr %v19960, ptr %v20071, align 8
  %v20072 = getelementptr inbounds ptr, ptr %slot20033, i64 38
  store ptr %v19963, ptr %v20072, align 8
  %v20073 = getelementptr inbounds ptr, ptr %slot20033, i64 39
  store ptr %v19966, ptr %v20073, align 8
  %v20074 = getelementptr inbounds ptr, ptr %slot20033, i64 40
  store ptr %v19969, ptr %v20074, align 8
  %v20075 = getelementptr inbounds ptr, ptr %slot20033, i64 41
  store ptr %v19972, ptr %v20075, align 8
  %v20076 = getelementptr inbounds ptr, ptr %slot20033, i64 42
  store ptr %v19975, ptr %v20076, align 8
  %v20077 = getelementptr inbounds ptr, ptr %slot20033, i64 43
  store ptr %v19978, ptr %v20077, align 8
  %v20078 = getelementptr inbounds ptr, ptr %slot20033, i64 44
  store ptr %v19981, ptr %v20078, align 8
  %v20079 = getelementptr inbounds ptr, ptr %slot20033, i64 45
  store ptr %v19984, ptr %v20079, align 8
  %v20080 = getelementptr inbounds ptr, ptr %slot20033, i64 46
  store ptr %v19987, ptr %v20080, align 8
  %v20081 = getelementptr inbounds ptr, ptr %slot20033, i64 47
  store ptr %v19990, ptr %v20081, align 8
  %v20082 = getelementptr inbounds ptr, ptr %slot20033, i64 48
  store ptr %v19993, ptr %v20082, align 8
  %v20083 = getelementptr inbounds ptr, ptr %slot20033, i64 49
  store ptr %v19996, ptr %v20083, align 8
  %v20084 = getelementptr inbounds ptr, ptr %slot20033, i64 50
  store ptr %v19999, ptr %v20084, align 8
  %v20085 = getelementptr inbounds ptr, ptr %slot20033, i64 51
  store ptr %v20002, ptr %v20085, align 8
  %v20086 = getelementptr inbounds ptr, ptr %slot20033, i64 52
  store ptr %v20005, ptr %v20086, align 8
  %v20087 = getelementptr inbounds ptr, ptr %slot20033, i64 53
  store ptr %v20008, ptr %v20087, align 8
  %v20088 = getelementptr inbounds ptr, ptr %slot20033, i64 54
  store ptr %v20011, ptr %v20088, align 8
  %v20089 = getelementptr inbounds ptr, ptr %slot20033, i64 55
  store ptr %v20014, ptr %v20089, align 8
  %v20090 = getelementptr inbounds ptr, ptr %slot20033, i64 56
  store ptr %v20017, ptr %v20090, align 8
  %v20091 = getelementptr inbounds ptr, ptr %slot20033, i64 57
  store ptr %v20020, ptr %v20091, align 8
  %v20092 = getelementptr inbounds ptr, ptr %slot20033, i64 58
  store ptr %v20023, ptr %v20092, align 8
  %v20093 = getelementptr inbounds ptr, ptr %slot20033, i64 59
  store ptr %v20026, ptr %v20093, align 8
  %v20094 = getelementptr inbounds ptr, ptr %slot20033, i64 60
  store ptr %v20029, ptr %v20094, align 8
  %v20095 = getelementptr inbounds ptr, ptr %slot20033, i64 61
  store ptr %v20032, ptr %v20095, align 8
  call void @xla_explorer_parallel_for(ptr @add_multiply_add_fusion_3_task, ptr %slot20033, i64 3)
  ret i32 0
}

declare void @add_multiply_add_fusion_32_task(ptr %context, i64 %task) nounwind
declare void @tanh_multiply_add_fusion_2_task(ptr %context, i64 %task) nounwind
declare void @tanh_maximum_add_fusion_2_task(ptr %context, i64 %task) nounwind
declare void @multiply_minimum_add_fusion_3_task(ptr %context, i64 %task) nounwind
declare void @tanh_maximum_add_fusion_1_task(ptr %context, i64 %task) nounwind
declare void @wrapped_tanh_442(ptr noalias %a0) noinline nounwind
declare void @wrapped_tanh_366(ptr noalias %a0, ptr noalias %a1) noinline nounwind
declare void @minimum_tanh_add_fusion_task(ptr %context, i64 %task) nounwind
declare void @tanh_maximum_add_fusion_task(ptr %context, i64 %task) nounwind
declare void @multiply_maximum_add_fusion_5_task(ptr %context, i64 %task) nounwind
declare void @subtract_multiply_add_fusion_16_task(ptr %context, i64 %task) nounwind
declare void @subtract_multiply_add_fusion_11_task(ptr %context, i64 %task) nounwind
declare void @add_tanh_add_fusion_3_task(ptr %context, i64 %task) nounwind
declare void @add_multiply_add_fusion_7_task(ptr %context, i64 %task) nounwind
declare void @add_tanh_add_fusion_1_task(ptr %context, i64 %task) nounwind
declare void @add_multiply_add_fusion_3_task(ptr %context, i64 %task) nounwind
declare void @minimum_multiply_tanh_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @reduce_fusion_110(ptr noalias %a0, ptr noalias %a1) noinline nounwind "optimization-level"="final"
declare void @wrapped_tanh_540(ptr noalias %a0) noinline nounwind "optimization-level"="final"
declare void @reduce_fusion_99(ptr noalias %a0, ptr noalias %a1) noinline nounwind "optimization-level"="final"
declare void @maximum_multiply_minimum_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17, ptr noalias %a18) noinline nounwind "optimization-level"="final"
declare void @d73(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_fusion_14(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @tanh_minimum_add_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @tanh_maximum_subtract_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17) noinline nounwind "optimization-level"="final"
declare void @multiply_minimum_add_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17, ptr noalias %a18) noinline nounwind "optimization-level"="final"
declare void @multiply_subtract_maximum_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17) noinline nounwind "optimization-level"="final"
declare void @minimum_tanh_maximum_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_maximum_fusion_5(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_minimum_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @multiply_maximum_tanh_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @multiply_minimum_tanh_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17) noinline nounwind "optimization-level"="final"
declare void @subtract_minimum_maximum_tanh_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @wrapped_transpose_6(ptr noalias %a0, ptr noalias %a1) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_add_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17, ptr noalias %a18) noinline nounwind "optimization-level"="final"
declare void @maximum_minimum_add_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17, ptr noalias %a18) noinline nounwind "optimization-level"="final"
declare void @multiply_subtract_maximum_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_add_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17) noinline nounwind "optimization-level"="final"
declare void @maximum_minimum_multiply_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17, ptr noalias %a18) noinline nounwind "optimization-level"="final"
declare void @multiply_add_tanh_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17) noinline nounwind "optimization-level"="final"
declare void @multiply_maximum_add_tanh_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17, ptr noalias %a18) noinline nounwind "optimization-level"="final"
declare void @add_maximum_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17, ptr noalias %a18, ptr noalias %a19, ptr noalias %a20, ptr noalias %a21, ptr noalias %a22, ptr noalias %a23, ptr noalias %a24, ptr noalias %a25, ptr noalias %a26, ptr noalias %a27) noinline nounwind "optimization-level"="final"
declare void @wrapped_maximum_143(ptr noalias %a0, ptr noalias %a1) noinline nounwind "optimization-level"="final"
declare void @tanh_add_multiply_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @wrapped_tanh_533(ptr noalias %a0, ptr noalias %a1) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_minimum_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @minimum_tanh_maximum_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_maximum_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @maximum_multiply_subtract_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17) noinline nounwind "optimization-level"="final"
declare void @multiply_subtract_tanh_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_minimum_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @maximum_multiply_tanh_fusion_3(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_maximum_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @subtract_maximum_tanh_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @tanh_subtract_multiply_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11) noinline nounwind "optimization-level"="final"
declare void @maximum_tanh_reduce_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @multiply_reduce_fusion_14(ptr noalias %a0, ptr noalias %a1) noinline nounwind "optimization-level"="final"
declare void @wrapped_broadcast_5(ptr noalias %a0, ptr noalias %a1) noinline nounwind "optimization-level"="final"
declare void @tanh_minimum_fusion_9(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_add_fusion_3(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @minimum_subtract_fusion_3(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5) noinline nounwind "optimization-level"="final"
declare void @tanh_reduce_fusion_7(ptr noalias %a0, ptr noalias %a1) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_fusion_124(ptr noalias %a0) noinline nounwind "optimization-level"="final"
declare void @tanh_subtract_multiply_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @tanh_reduce_fusion_8(ptr noalias %a0, ptr noalias %a1) noinline nounwind "optimization-level"="final"
declare void @multiply_maximum_tanh_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @maximum_multiply_tanh_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @multiply_minimum_tanh_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11) noinline nounwind "optimization-level"="final"
declare void @multiply_maximum_subtract_fusion_5(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_maximum_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_subtract_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_subtract_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @subtract_add_multiply_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10) noinline nounwind "optimization-level"="final"
declare void @tanh_add_subtract_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_maximum_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @multiply_add_tanh_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10) noinline nounwind "optimization-level"="final"
declare void @multiply_subtract_tanh_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8) noinline nounwind "optimization-level"="final"
declare void @minimum_multiply_subtract_tanh_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @multiply_minimum_tanh_subtract_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @add_subtract_tanh_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @multiply_maximum_tanh_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @tanh_maximum_add_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_add_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @tanh_maximum_add_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @multiply_maximum_minimum_fusion_7(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @add_maximum_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_maximum_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @multiply_add_minimum_tanh_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @minimum_tanh_multiply_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @tanh_subtract_multiply_add_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @multiply_reduce_fusion_13(ptr noalias %a0, ptr noalias %a1) noinline nounwind "optimization-level"="final"
declare void @subtract_fusion_3(ptr noalias %a0, ptr noalias %a1) noinline nounwind "optimization-level"="final"
declare void @subtract_tanh_fusion(ptr noalias %a0, ptr noalias %a1) noinline nounwind "optimization-level"="final"
declare void @multiply_minimum_tanh_fusion_7(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @subtract_multiply_fusion_144(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_maximum_fusion_7(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_fusion_122(ptr noalias %a0) noinline nounwind "optimization-level"="final"
declare void @multiply_add_multiply_fusion_76(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @d1095(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @multiply_add_tanh_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10) noinline nounwind "optimization-level"="final"
declare void @multiply_minimum_tanh_subtract_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @maximum_multiply_tanh_fusion_5(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4) noinline nounwind "optimization-level"="final"
declare void @subtract_multiply_tanh_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_minimum_maximum_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_add_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @minimum_multiply_tanh_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10) noinline nounwind "optimization-level"="final"
declare void @tanh_maximum_multiply_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @tanh_add_maximum_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_minimum_add_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @maximum_multiply_tanh_fusion_4(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_maximum_fusion_6(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @add_multiply_minimum_fusion_10(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_add_fusion_4(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_maximum_subtract_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_minimum_maximum_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @tanh_minimum_subtract_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9) noinline nounwind "optimization-level"="final"
declare void @minimum_tanh_fusion_9(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @add_minimum_multiply_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @minimum_tanh_maximum_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_add_fusion_11(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @tanh_maximum_subtract_multiply_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @subtract_tanh_add_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @minimum_reduce_fusion_3(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @add_minimum_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @maximum_tanh_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11) noinline nounwind "optimization-level"="final"
declare void @minimum_reduce_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @multiply_maximum_minimum_tanh_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @tanh_add_multiply_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @minimum_add_maximum_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @multiply_add_multiply_fusion_68(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @tanh_reduce_fusion_6(ptr noalias %a0, ptr noalias %a1) noinline nounwind "optimization-level"="final"
declare void @tanh_fusion_17(ptr noalias %a0) noinline nounwind "optimization-level"="final"
declare void @minimum_multiply_subtract_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_minimum_fusion_5(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11) noinline nounwind "optimization-level"="final"
declare void @maximum_multiply_add_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17) noinline nounwind "optimization-level"="final"
declare void @add_tanh_multiply_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @tanh_maximum_multiply_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_minimum_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @maximum_multiply_tanh_fusion_6(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @multiply_minimum_maximum_tanh_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17, ptr noalias %a18, ptr noalias %a19) noinline nounwind "optimization-level"="final"
declare void @multiply_maximum_add_fusion_6(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_maximum_fusion_8(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @multiply_fusion_71(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6) noinline nounwind "optimization-level"="final"
declare void @multiply_maximum_subtract_fusion_6(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @add_multiply_minimum_fusion_12(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @subtract_tanh_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9) noinline nounwind "optimization-level"="final"
declare void @wrapped_tanh_446(ptr noalias %a0) noinline nounwind "optimization-level"="final"
declare void @multiply_subtract_add_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9) noinline nounwind "optimization-level"="final"
declare void @tanh_subtract_minimum_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_add_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @subtract_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9) noinline nounwind "optimization-level"="final"
declare void @multiply_maximum_minimum_tanh_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9) noinline nounwind "optimization-level"="final"
declare void @add_multiply_reduce_fusion_4(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_add_fusion_12(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @multiply_reduce_fusion_11(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @subtract_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_fusion_15(ptr noalias %a0, ptr noalias %a1) noinline nounwind "optimization-level"="final"
declare void @subtract_multiply_tanh_minimum_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @tanh_minimum_multiply_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17) noinline nounwind "optimization-level"="final"
declare void @multiply_add_fusion_42(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_minimum_add_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @multiply_maximum_subtract_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @multiply_add_tanh_maximum_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @multiply_maximum_tanh_minimum_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @multiply_maximum_subtract_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @tanh_add_multiply_minimum_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11) noinline nounwind "optimization-level"="final"
declare void @tanh_maximum_multiply_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @subtract_multiply_reduce_fusion_5(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @wrapped_broadcast_4(ptr noalias %a0, ptr noalias %a1) noinline nounwind "optimization-level"="final"
declare void @d2119(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @minimum_multiply_add_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @tanh_maximum_multiply_subtract_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @maximum_tanh_minimum_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11) noinline nounwind "optimization-level"="final"
declare void @tanh_maximum_add_multiply_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @multiply_subtract_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @subtract_multiply_tanh_fusion_28(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @maximum_tanh_multiply_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_add_subtract_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_fusion_17(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @subtract_multiply_tanh_fusion_27(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @multiply_minimum_tanh_add_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @maximum_tanh_multiply_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_maximum_fusion_5(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @minimum_multiply_subtract_maximum_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @tanh_minimum_maximum_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_maximum_subtract_fusion_3(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @add_multiply_minimum_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @subtract_multiply_tanh_minimum_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_minimum_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @subtract_tanh_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @maximum_add_subtract_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @minimum_add_subtract_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @wrapped_tanh_309(ptr noalias %a0, ptr noalias %a1) noinline nounwind "optimization-level"="final"
declare void @multiply_minimum_tanh_add_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @tanh_maximum_subtract_multiply_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @multiply_subtract_maximum_tanh_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @tanh_add_maximum_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10) noinline nounwind "optimization-level"="final"
declare void @multiply_maximum_subtract_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3) noinline nounwind "optimization-level"="final"
declare void @minimum_multiply_add_maximum_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @add_tanh_multiply_minimum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11) noinline nounwind "optimization-level"="final"
declare void @multiply_subtract_tanh_minimum_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @subtract_tanh_multiply_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_minimum_subtract_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @multiply_add_subtract_tanh_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_add_minimum_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @add_subtract_multiply_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @subtract_multiply_maximum_tanh_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @subtract_tanh_multiply_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @multiply_subtract_minimum_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @add_tanh_minimum_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_add_fusion_6(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10) noinline nounwind "optimization-level"="final"
declare void @add_multiply_reduce_fusion_3(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_minimum_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10) noinline nounwind "optimization-level"="final"
declare void @maximum_tanh_multiply_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10) noinline nounwind "optimization-level"="final"
declare void @subtract_multiply_add_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_minimum_subtract_fusion_3(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_maximum_subtract_fusion_4(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @multiply_maximum_minimum_fusion_8(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @minimum_tanh_multiply_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11) noinline nounwind "optimization-level"="final"
declare void @add_tanh_multiply_subtract_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11) noinline nounwind "optimization-level"="final"
declare void @maximum_minimum_multiply_tanh_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @tanh_minimum_add_multiply_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @subtract_maximum_minimum_tanh_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11) noinline nounwind "optimization-level"="final"
declare void @tanh_add_maximum_multiply_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17) noinline nounwind "optimization-level"="final"
declare void @tanh_subtract_multiply_minimum_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @tanh_maximum_multiply_add_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @subtract_multiply_tanh_maximum_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16) noinline nounwind "optimization-level"="final"
declare void @subtract_tanh_multiply_maximum_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @tanh_minimum_multiply_subtract_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @minimum_tanh_fusion_17(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3) noinline nounwind "optimization-level"="final"
declare void @multiply_tanh_reduce_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3) noinline nounwind "optimization-level"="final"
declare void @multiply_fusion_72(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @add_maximum_tanh_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11) noinline nounwind "optimization-level"="final"
declare void @multiply_add_tanh_subtract_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_maximum_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @subtract_multiply_tanh_maximum_fusion_3(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @tanh_minimum_multiply_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9) noinline nounwind "optimization-level"="final"
declare void @tanh_subtract_minimum_add_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10) noinline nounwind "optimization-level"="final"
declare void @tanh_multiply_minimum_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8) noinline nounwind "optimization-level"="final"
declare void @minimum_tanh_multiply_add_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @subtract_minimum_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15) noinline nounwind "optimization-level"="final"
declare void @multiply_maximum_add_fusion_7(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10) noinline nounwind "optimization-level"="final"
declare void @maximum_multiply_subtract_add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @tanh_minimum_multiply_add_fusion_3(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12) noinline nounwind "optimization-level"="final"
declare void @subtract_multiply_fusion_145(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @subtract_tanh_minimum_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5) noinline nounwind "optimization-level"="final"
declare void @tanh_add_multiply_subtract_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14) noinline nounwind "optimization-level"="final"
declare void @maximum_multiply_tanh_add_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9) noinline nounwind "optimization-level"="final"
declare void @add_multiply_add_fusion_5(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13, ptr noalias %a14, ptr noalias %a15, ptr noalias %a16, ptr noalias %a17, ptr noalias %a18, ptr noalias %a19, ptr noalias %a20, ptr noalias %a21, ptr noalias %a22, ptr noalias %a23, ptr noalias %a24, ptr noalias %a25, ptr noalias %a26, ptr noalias %a27, ptr noalias %a28) noinline nounwind "optimization-level"="final"
declare void @add_multiply_reduce_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3) noinline nounwind "optimization-level"="final"
declare void @add_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @tanh_add_fusion_1(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @tanh_maximum_add_fusion_4(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @minimum_tanh_add_maximum_fusion(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4, ptr noalias %a5, ptr noalias %a6, ptr noalias %a7, ptr noalias %a8, ptr noalias %a9, ptr noalias %a10, ptr noalias %a11, ptr noalias %a12, ptr noalias %a13) noinline nounwind "optimization-level"="final"
declare void @multiply_minimum_fusion_54(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2, ptr noalias %a3, ptr noalias %a4) noinline nounwind "optimization-level"="final"
declare void @multiply_add_multiply_fusion_2(ptr noalias %a0, ptr noalias %a1, ptr noalias %a2) noinline nounwind "optimization-level"="final"
declare void @xla_explorer_parallel_for(ptr, ptr, i64)

!0 = !{}
