// The page is complete without this: it only filters the list of checks and opens everything for printing.
(function () {
  "use strict";
  var place = document.getElementById("filter");
  var suites = document.querySelectorAll("details.suite");
  if (place && suites.length) {
    var label = document.createElement("label");
    var input = document.createElement("input");
    var only = document.createElement("label");
    var box = document.createElement("input");
    var said = document.createElement("span");
    input.type = "search";
    input.placeholder = "name, outcome or reason";
    box.type = "checkbox";
    said.setAttribute("role", "status");
    label.append("Filter ", input);
    only.append(box, " only what did not pass");
    place.append(label, only, said);
    var open = Array.prototype.map.call(suites, function (s) { return s.open; });
    var apply = function () {
      var want = input.value.trim().toLowerCase();
      var active = want !== "" || box.checked;
      var shown = 0, all = 0;
      suites.forEach(function (suite, i) {
        var here = 0;
        suite.querySelectorAll("tbody tr").forEach(function (row) {
          var ok = (!box.checked || row.dataset.outcome !== "pass") &&
            (row.dataset.outcome + " " + row.cells[0].textContent).toLowerCase().indexOf(want) >= 0;
          row.hidden = !ok;
          here += ok ? 1 : 0;
          all += 1;
        });
        shown += here;
        suite.hidden = active && here === 0;
        suite.open = active ? here > 0 : open[i];
      });
      said.textContent = active ? shown + " of " + all + " checks" : "";
    };
    input.addEventListener("input", apply);
    box.addEventListener("change", apply);
  }
  window.addEventListener("beforeprint", function () {
    suites.forEach(function (s) { s.open = true; });
  });
})();
