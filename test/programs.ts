// Which file a test starts when it starts one of its programs.
import { join } from 'node:path'
import { bundledProgram } from '../scripts/test-programs.ts'

/**
 * The bundle of a program, which the global setup has made: it starts in less than half of the time that its source takes. The source itself
 * with ERRAND_TEST_SOURCES=1, for suites that replace one of its modules, and for a debugger.
 */
export function programOf(folder: string, file: string): string {
  const source = join(folder, file)
  return process.env['ERRAND_TEST_SOURCES'] === '1' ? source : bundledProgram(source)
}
