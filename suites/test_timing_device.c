/* test_timing_device.c - the timing suite on a GPU without a GPU, on the machine of test_timing_device.h. */
#include "test_timing_device.h"

/* ---- a run ---- */

static assay_contract *contract;
static assay_operator_def op;
static assay_lane lane;
static assay_context context;
static assay_result result;
static assay_check_record record;

static size_t eight(const assay_attrs *attrs) {
    (void)attrs;
    return CHANNELS;
}

static void open_machine(void) {
    assay_error error = {0};
    const char *build = getenv("ASSAY_BUILD");
    op = *assay_operator_find("timestep_sinusoid_h3");
    cr_assert_eq(assay_contract_parse(op.contract_json, *op.contract_bytes, &contract, &error),
                 ASSAY_CODE_OK);
    op.channels = eight;
    for (size_t i = 0; i < 2; i++) {
        stubs[i] = (stub_worker){.backward = true, .byte_ns = 0.01, .lie_graph = 1, .lie_single = 1};
        cr_assert_eq(assay_arena_create((size_t)256 << 20, &stubs[i].arena, NULL), ASSAY_CODE_OK);
    }
    stubs[1].byte_ns = 0.04;
    memset_byte_ns = 0.009;
    lane = (assay_lane){.candidate = (assay_worker *)&stubs[0], .baseline = (assay_worker *)&stubs[1]};
    context = (assay_context){.op = &op,
                              .contract = contract,
                              .tier = ASSAY_TIER_QUICK,
                              .seed = 1,
                              .plugin = &plugin,
                              .device = (assay_device *)&stubs[0],
                              .lane_count = 1,
                              .lanes = &lane,
                              .recorder = assay_recorder_new()};
    (void)snprintf(nvml_path, sizeof nvml_path, "%s/hostile/fake_nvml.so", build != NULL ? build : ".");
}

TestSuite(timing_device, .init = open_machine);

static void go(assay_timing_figure figure, size_t rows) {
    assay_check check = {.name = "timing/test", .kind = (int)figure};
    assay_direct_case(&context, 0, ASSAY_DTYPE_F32, rows, 1, &check.c);
    assay_recorder_clear(context.recorder);
    result = (assay_result){.outcome = ASSAY_OUTCOME_NOT_RUN};
    floors = fills = reads = 0;
    assay_timing_device_run(&context, &check, &result);
    record = (assay_check_record){0};
    assay_recorder_fill(context.recorder, &record);
}

static const assay_series_record *series(const char *callable) {
    for (size_t i = 0; i < record.series_count; i++) {
        if (strcmp(record.series[i].callable, callable) == 0) {
            return &record.series[i];
        }
    }
    return NULL;
}

/* NaN when there is none. */
static double value(const char *name) {
    for (size_t i = 0; i < record.metric_count; i++) {
        if (strcmp(record.metrics[i].name, name) == 0) {
            return record.metrics[i].value;
        }
    }
    return (double)NAN;
}

static void near(const char *name, double want) {
    cr_expect_float_eq(value(name), want, 0.01 * fabs(want) + 1e-9, "%s: %g, want %g", name, value(name),
                       want);
}

Test(timing_device, the_device_figure_is_a_graph_of_many_calls_divided) {
    go(ASSAY_TIMING_FIGURE_DEVICE, 1000); /* 32000 bytes: 320 ns of work */
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "%s", result.reason);
    const assay_series_record *s = series("candidate");
    cr_assert_not_null(s);
    cr_assert_str_eq(s->figure, "device");
    cr_assert_str_eq(s->flags, "");
    cr_assert_eq(s->repeat, 100);
    cr_assert_eq(s->samples_ns[0], 82000);
    cr_assert_eq(s->bytes, 36000);
    near("candidate_median_ns", 820);
    near("candidate_gbps", 36000 / 820.0);
    near("baseline_median_ns", 1780);
    near("ratio_candidate_baseline", 820 / 1780.0); /* though a sample of the baseline has fewer calls */
    cr_assert_eq(series("baseline")->repeat, 57);
    near("candidate_times_floor", 820 / 500.0);
    near("candidate_roof_share", 288 / 820.0);
    near("candidate_backward_roof_share", 72000 * 0.009 / (500 + 40));
    cr_assert(isnan(value("ratio_again")));
    cr_assert_eq(stubs[0].resident, stubs[0].calls, "no call is mirrored");
    cr_assert_str_eq(series("candidate_checked")->flags, "events", "what synchronises has no graph");
    near("candidate_checked_graph", 0);
    near("candidate_graph", 1);
}

Test(timing_device, floors_and_roofs_are_measured_before_between_and_after) {
    context.tier = ASSAY_TIER_DEFAULT;
    go(ASSAY_TIMING_FIGURE_DEVICE, 1000);
    const size_t n = series("candidate")->count;
    cr_assert_gt(n, 50);
    cr_assert_eq(floors, n / 25 + 2);
    cr_assert_eq(fills, floors);
    cr_assert_eq(reads, floors);
    const assay_series_record *floor = series("floor");
    cr_assert_eq(floor->count, floors);
    cr_assert_eq(floor->repeat, 100);
    cr_assert_eq(floor->samples_ns[0], 50000);
    cr_assert_eq(series("roof_memset")->bytes, 32000);
    cr_assert_eq(series("roof_memset")->samples_ns[0], 288);
    cr_assert_eq(series("roof_read")->bytes, 72000);
    cr_assert_str_eq(series("roof_read")->figure, "device");
}

Test(timing_device, launch_and_host_are_figures_of_one_call) {
    go(ASSAY_TIMING_FIGURE_LAUNCH, 1000);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "%s", result.reason);
    cr_assert_eq(series("candidate")->repeat, 1);
    cr_assert_str_eq(series("candidate")->figure, "launch");
    near("candidate_median_ns", 7320);
    near("floor_median_ns", 6000);
    near("candidate_peak_bytes", 4096);
    cr_assert_eq(stubs[0].peaks, 3, "once each");
    cr_assert_eq(stubs[0].graphs, 0);
    go(ASSAY_TIMING_FIGURE_HOST, 1000);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "%s", result.reason);
    near("candidate_median_ns", 8320);
    near("round_trip_least_ns", 30000);
    cr_assert(isnan(value("candidate_peak_bytes")), "memory is watched in one figure");
    cr_assert_null(series("floor"));
    cr_assert_str_eq(series("candidate")->figure, "host");
}

Test(timing_device, large_outputs_are_written_in_turn_and_one_call_is_a_sample) {
    go(ASSAY_TIMING_FIGURE_DEVICE, 400000); /* 12.8 MB */
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "%s", result.reason);
    cr_assert_eq(series("candidate")->repeat, 1);
    near("outputs_in_turn", 4);
    go(ASSAY_TIMING_FIGURE_DEVICE, 100);
    near("outputs_in_turn", 1);
}

Test(timing_device, full_tier_times_the_candidate_against_itself) {
    context.tier = ASSAY_TIER_FULL;
    go(ASSAY_TIMING_FIGURE_LAUNCH, 64);
    cr_assert_not_null(series("candidate_again"));
    near("ratio_again", 1);
    near("ratio_again_low95", 1);
    near("false_alarm", 0);
}

static void expect_mistrusted(const char *needle) {
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_MISTRUSTED, "%s: %s", assay_outcome_text(result.outcome),
                 result.reason);
    cr_assert_not_null(strstr(result.reason, needle), "%s", result.reason);
}

Test(timing_device, claims_below_the_judges_clock_are_mistrusted) {
    stubs[0].lie_single = 0.5;
    go(ASSAY_TIMING_FIGURE_LAUNCH, 1000);
    expect_mistrusted("candidate claims");
    go(ASSAY_TIMING_FIGURE_HOST, 1000);
    expect_mistrusted("the judge saw");
}

Test(timing_device, claims_for_graphs_are_checked_by_more_launches) {
    stubs[0].lie_graph = 0.6; /* 492 ns a call: not below the floor by the margin */
    go(ASSAY_TIMING_FIGURE_DEVICE, 1000);
    expect_mistrusted("the judge saw");
    stubs[0].lie_graph = 0.9;
    go(ASSAY_TIMING_FIGURE_DEVICE, 1000);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "%s", result.reason);
}

Test(timing_device, faster_than_memset_beyond_the_cache_is_mistrusted) {
    stubs[0].byte_ns = 0.006; /* truly as fast by the judge's clock: work is missing */
    go(ASSAY_TIMING_FIGURE_DEVICE, 100000);
    expect_mistrusted("plain fill");
    go(ASSAY_TIMING_FIGURE_DEVICE, 2000); /* in the cache */
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "%s", result.reason);
}

Test(timing_device, an_answer_kept_by_address_is_found) {
    stubs[0].cached = true;
    go(ASSAY_TIMING_FIGURE_LAUNCH, 100);
    expect_mistrusted("does not give the bytes");
}

Test(timing_device, what_is_timed_must_write_its_answer) {
    stubs[0].lazy = true;
    go(ASSAY_TIMING_FIGURE_DEVICE, 100);
    expect_mistrusted("candidate when timed does not give the bytes");
    download_bytes = 16;
    go(ASSAY_TIMING_FIGURE_DEVICE, 70000); /* two tiles, by their digests */
    expect_mistrusted("candidate when timed does not give the bytes");
    stubs[0].lazy = false;
    stubs[0].backward = stubs[1].backward = false;
    go(ASSAY_TIMING_FIGURE_DEVICE, 70000);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "%s", result.reason);
}

Test(timing_device, a_candidate_that_cannot_be_captured_is_timed_by_events) {
    stubs[0].no_capture = true;
    go(ASSAY_TIMING_FIGURE_DEVICE, 1000);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "%s", result.reason);
    cr_assert_str_eq(series("candidate")->flags, "events");
    cr_assert_eq(series("candidate")->repeat, 14); /* 7320 ns alone */
    near("candidate_graph", 0);
    cr_assert_str_eq(series("baseline")->flags, "");
}

Test(timing_device, a_baseline_that_fails_is_left_out) {
    stubs[1].out_of_memory = true;
    go(ASSAY_TIMING_FIGURE_LAUNCH, 100);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "%s", result.reason);
    cr_assert_null(series("baseline"));
    near("baseline_left_out", 1);
    near("baseline_backward_left_out", 1);
    stubs[1].out_of_memory = false;
    stubs[1].no_room = true;
    go(ASSAY_TIMING_FIGURE_LAUNCH, 100);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "%s", result.reason);
    near("baseline_left_out", 1);
    stubs[1].no_room = false;
    stubs[1].host_memory = true;
    go(ASSAY_TIMING_FIGURE_LAUNCH, 100);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "%s", result.reason);
    near("baseline_left_out", 1);
    cr_assert_null(series("baseline"));
}

Test(timing_device, a_candidate_that_fails_ends_the_check) {
    stubs[0].out_of_memory = true;
    go(ASSAY_TIMING_FIGURE_LAUNCH, 100);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_FAIL, "%s", result.reason);
    stubs[0].out_of_memory = false;
    stubs[0].no_room = true;
    go(ASSAY_TIMING_FIGURE_LAUNCH, 100);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_UNAVAILABLE, "%s", result.reason);
    stubs[0].no_room = false;
    stubs[0].no_device_time = true;
    go(ASSAY_TIMING_FIGURE_DEVICE, 100);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_UNAVAILABLE, "%s", result.reason);
    go(ASSAY_TIMING_FIGURE_HOST, 100);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "%s", result.reason);
    stubs[0].dies_of_null = true; /* validation's business */
    go(ASSAY_TIMING_FIGURE_HOST, 100);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "%s", result.reason);
    near("round_trip_least_ns", 0);
}

Test(timing_device, a_short_arena_leaves_out_what_does_not_fit) {
    assay_arena_destroy(stubs[0].arena);
    cr_assert_eq(assay_arena_create((size_t)8 << 20, &stubs[0].arena, NULL), ASSAY_CODE_OK);
    go(ASSAY_TIMING_FIGURE_LAUNCH,
       70000); /* 2.24 MB each: three fit, the fourth of output, upstream, saved not */
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "%s", result.reason);
    cr_assert_not_null(series("candidate_backward"));
    near("outputs_in_turn", 1);
    go(ASSAY_TIMING_FIGURE_LAUNCH, 150000); /* 4.8 MB each: no room for upstream gradients */
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "%s", result.reason);
    cr_assert_null(series("candidate_backward"));
    cr_assert_not_null(series("candidate"));
}

Test(timing_device, without_a_management_library_there_are_no_readings) {
    go(ASSAY_TIMING_FIGURE_LAUNCH, 100);
    near("nvml_readings", 0);
    cr_assert(isnan(value("nvml_sm_clock_median")));
    cr_assert(isnan(value("throttled_iterations")));
}

Test(timing_device, readings_are_recorded_and_throttled_samples_marked) {
    void *library = dlopen(nvml_path, RTLD_NOW | RTLD_LOCAL);
    cr_assert_not_null(library, "%s", nvml_path);
    nvml = dlsym(library, FAKE_NVML_STATE);
    *nvml =
        (fake_nvml){.count = 1, .sm_clock = {1980}, .memory_clock = 3201, .temperature = 41, .power = 700};
    nvml->reasons = ASSAY_NVML_REASON_IDLE;
    go(ASSAY_TIMING_FIGURE_LAUNCH, 100);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "%s", result.reason);
    const double n = (double)series("candidate")->count;
    near("nvml_readings", floor(n / 8) + 2);
    near("nvml_sm_clock_median", 1980);
    near("nvml_memory_clock_least", 3201);
    near("nvml_temperature_most", 41);
    near("nvml_by_uuid", 0);
    near("throttled_iterations", 0);
    cr_assert_null(strstr(series("candidate")->flags, "throttled"));
    nvml->reasons = ASSAY_NVML_REASON_HW_THERMAL;
    go(ASSAY_TIMING_FIGURE_LAUNCH, 100);
    cr_assert_eq(result.outcome, ASSAY_OUTCOME_PASS, "a slow clock breaks nothing: %s", result.reason);
    near("throttled_iterations", n);
    near("nvml_reasons", 0x40);
    cr_assert_not_null(strstr(series("candidate")->flags, "throttled"));
    cr_assert_not_null(strstr(series("floor")->flags, "throttled"));
    nvml->query_status = 3;
    go(ASSAY_TIMING_FIGURE_LAUNCH, 100);
    cr_assert(isnan(value("nvml_sm_clock_median")), "what could not be read is not a value");
    near("throttled_iterations", 0);
}

Test(timing_device, every_size_is_planned_once_per_figure) {
    static const assay_suite suite = {.name = "timing"};
    assay_plan plan = {0};
    assay_timing_device_plan(&context, &suite, &plan);
    cr_assert_eq(plan.count, 9);
    cr_assert_str_eq(plan.items[0].name, "timing/rows_1_device");
    cr_assert_str_eq(plan.items[8].name, "timing/rows_65536_host");
    cr_assert_eq(plan.items[8].kind, ASSAY_TIMING_FIGURE_HOST);
    context.tier = ASSAY_TIER_FULL;
    assay_timing_device_plan(&context, &suite, &plan);
    cr_assert_eq(plan.count, 9 + 27 - 9, "names specify the case: those of the quick tier are there");
    free(plan.items);
}
