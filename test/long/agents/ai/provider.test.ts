// Everything in test/agents/ai/provider.test.ts again, with every loop, of which the fast tests try some.
import '../../../agents/ai/provider.test.ts'
