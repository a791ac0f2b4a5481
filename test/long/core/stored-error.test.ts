// Everything in test/core/stored-error.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../core/stored-error.test.ts'
