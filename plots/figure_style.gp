# figure_style.gp - what all figures share. NARROW, TITLE and FOOTER are set before; noenhanced text throughout.
set encoding utf8
set title TITLE left offset graph 0, 0.2 noenhanced
set border 3 lc rgb "#8a929b" lw 1
set tics nomirror out scale 0.5 textcolor rgb "black"
set grid lc rgb "#9aa3ad" lw 0.5 dt (2,4)
set label 100 FOOTER at screen 0.012, screen 0.0 left offset 0, 0.75 font FOOTERFONT tc rgb "#76808a" noenhanced
set bmargin (NARROW ? 5.6 : 5.2)
set key noenhanced
