// Everything in test/board/mirror/crash.test.ts again, with as many kills as the long tests have.
import '../../../board/mirror/crash.test.ts'
