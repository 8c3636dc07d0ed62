/* cppcheck.h - what Criterion's macros mean to cppcheck, which reads no system headers. */
#define TestSuite(...)         extern int suite_of_tests
#define Test(suite, name, ...) void suite##_##name(void)
