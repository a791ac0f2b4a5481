// Everything in test/board/mirror/import-export.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../../board/mirror/import-export.test.ts'
