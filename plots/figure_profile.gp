# figure_profile.gp - largest error by input. HASi ATi NAMEi (0 candidate, 1 baseline), BOUND BOUNDNAME FLOOR ZEROS LOGX XLOW XHIGH
# YLOW YHIGH YTICS. Data: input error above-zero, one block per subject. Zeros are points on the floor, not joined to the line.
set logscale y
if (LOGX) set logscale x
set xrange [XLOW : XHIGH]
set yrange [YLOW : YHIGH]
eval "set ytics ".YTICS
if (ZEROS) set ytics add ("0" FLOOR)
if (LOGX) set xtics format "%.0e"
set xlabel "input t"
set ylabel "largest |error|"
set grid xtics ytics
if (ZEROS) set arrow 1 from graph 0, first FLOOR to graph 1, first FLOOR nohead lc rgb "#8a929b" lw 0.8 dt (1,3) back
POINT = NARROW ? 0.25 : 0.35
plot for [i = 1 : HAS1] DATA index AT1 using 1:($3 > 0.5 ? $2 : NaN) with linespoints lc rgb "#E69F00" lw 1.2 pt 5 ps POINT title NAME1, \
     for [i = 1 : HAS0] DATA index AT0 using 1:($3 > 0.5 ? $2 : NaN) with linespoints lc rgb "#0072B2" lw 1.2 pt 7 ps POINT title NAME0, \
     for [i = 1 : HAS1 && ZEROS] DATA index AT1 using 1:($3 > 0.5 ? NaN : $2) with points lc rgb "#E69F00" pt 4 ps 2 * POINT notitle, \
     for [i = 1 : HAS0 && ZEROS] DATA index AT0 using 1:($3 > 0.5 ? NaN : $2) with points lc rgb "#0072B2" pt 7 ps POINT notitle, \
     for [i = 1 : (BOUND > 0)] BOUND with lines lc rgb "#D55E00" lw 1.6 dt (8,4) title BOUNDNAME
