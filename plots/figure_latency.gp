# figure_latency.gp - latency by size. LINES NAME[] COLOUR[] DASH[] POINT[] XLOW XHIGH YLOW YHIGH YTICS.
# Data: rows median low high in microseconds, one block per line.
set logscale y
set logscale x 2
set xrange [XLOW : XHIGH]
set yrange [YLOW : YHIGH]
set xtics format "%.0f"
if (NARROW) { set xtics 1, 8 } else { set xtics 1, 4 }
eval "set ytics ".YTICS
set xlabel "rows T"
set ylabel "time per call [µs]"
set grid xtics ytics
set bars 0.4
if (NARROW) { set key outside bottom center vertical maxrows 4 samplen 2 font KEYFONT; set bmargin 9.5 } else { set key outside right top vertical samplen 2.4 font KEYFONT }
plot for [i = 1 : LINES] DATA index (i - 1) using 1:2 with lines lc rgb COLOUR[i] lw (POINT[i] ? 1.8 : 1.4) dt DASH[i] notitle, \
     for [i = 1 : LINES] DATA index (i - 1) using 1:(POINT[i] ? column(2) : 1/0):3:4 with yerrorbars lc rgb COLOUR[i] lw 1 dt 1 pt POINT[i] ps 0.01 notitle, \
     for [i = 1 : LINES] DATA index (i - 1) using 1:(POINT[i] ? column(2) : 1/0) with points lc rgb COLOUR[i] pt POINT[i] ps 0.7 notitle, \
     for [i = 1 : LINES] NaN with linespoints lc rgb COLOUR[i] lw 1.8 dt DASH[i] pt POINT[i] ps (POINT[i] ? 0.7 : 0) title NAME[i]
