SELECT r.implementation AS candidate, CASE WHEN c.name LIKE 'parity/baseline/%' THEN r.baseline ELSE 'replay of h3-cuda' END AS against,
       substr(c.name, instr(c.name, 'set_') + 4) AS "timestep set", format('%,d', c.elements) AS outputs, format('%,d', c.bad) AS differing
FROM checks c JOIN runs r ON r.id = c.run_id
WHERE r.kind = 'certify' AND c.suite = 'parity' AND c.name LIKE '%/set_%' ORDER BY r.id, c.seq;
