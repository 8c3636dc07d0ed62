# figure_style.gp - what all figures share. NARROW, TITLE and FOOTER are set before; noenhanced text throughout.
set encoding utf8
set label 99 TITLE at screen (NARROW ? 0.02 : 0.012), screen 1 left offset 0, -1.1 font TITLEFONT noenhanced
set label 100 FOOTER at screen (NARROW ? 0.02 : 0.012), screen 0 left offset 0, (NARROW ? 1.6 : 0.7) font FOOTERFONT tc rgb "#76808a" noenhanced
set border 3 lc rgb "#8a929b" lw 1
set tics nomirror out scale 0.5 textcolor rgb "black"
set grid lc rgb "#9aa3ad" lw 0.6 dt (2,3)
set tmargin (NARROW ? 5.4 : 3.8)
set bmargin (NARROW ? 6.2 : 4.8)
set key Left reverse noenhanced at graph 1, graph 1 right bottom horizontal samplen 1.6 font KEYFONT
