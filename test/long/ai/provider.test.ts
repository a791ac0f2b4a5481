// Everything in test/ai/provider.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../ai/provider.test.ts'
