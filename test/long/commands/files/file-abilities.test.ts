// Everything in test/commands/files/file-abilities.test.ts again, with as many random runs as `runs` gives to the long tests.
import '../../../commands/files/file-abilities.test.ts'
