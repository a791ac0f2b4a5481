// Everything in test/ai/provider.test.ts again, with every loop, of which the fast tests try some.
import '../../ai/provider.test.ts'
