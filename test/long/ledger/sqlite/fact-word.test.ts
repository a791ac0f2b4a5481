// Everything in test/ledger/sqlite/fact-word.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../../ledger/sqlite/fact-word.test.ts'
