# figure_latency.gp - latency by size. LINES NAME[] COLOUR[] DASH[] POINT[] XLOW XHIGH YLOW YHIGH YTICS.
# Data: rows median low high in microseconds, one block per line.
set logscale y
set logscale x 2
set xrange [XLOW : XHIGH]
set yrange [YLOW : YHIGH]
set xtics format "%.0b%B"
if (NARROW) { set xtics 1, 8 } else { set xtics 1, 4 }
eval "set ytics ".YTICS
set xlabel "rows T"
set ylabel "time per call [µs]"
set grid xtics ytics
set bars 0.4
set tmargin (NARROW ? 2.6 : 2.6)
if (NARROW) { set key Left reverse at screen 0.5, screen 0.075 center bottom vertical maxrows 4 samplen 2 width -1 font KEYFONT; set bmargin 11 } else { set key Left reverse outside right top vertical samplen 2.6 width 1 font KEYFONT }
set dashtype 2 (7,3)
set dashtype 3 (1,3)
set dashtype 4 (12,5)
plot for [i = 1 : LINES] DATA index (i - 1) using 1:2 with lines lc rgb COLOUR[i] lw (POINT[i] ? 1.8 : 1.4) dt DASH[i] notitle, \
     for [i = 1 : LINES] DATA index (i - 1) using 1:(POINT[i] ? column(2) : 1/0):3:4 with yerrorbars lc rgb COLOUR[i] lw 1 dt 1 pt POINT[i] ps 0.01 notitle, \
     for [i = 1 : LINES] DATA index (i - 1) using 1:(POINT[i] ? column(2) : 1/0) with points lc rgb COLOUR[i] pt POINT[i] ps 0.7 notitle, \
     for [i = 1 : LINES] NaN with linespoints lc rgb COLOUR[i] lw 1.8 dt DASH[i] pt POINT[i] ps (POINT[i] ? 0.7 : 0) title NAME[i]
