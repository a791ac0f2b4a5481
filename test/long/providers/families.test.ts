// Everything in test/providers/families.test.ts again, with all families and more kills.
import '../../providers/families.test.ts'
