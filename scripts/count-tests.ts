// Prints the numbers of passed and failed tests of vitest's JSON report on one line. A test file that could not be loaded counts as
// one failure, and so does a missing report.

import { existsSync, readFileSync } from 'node:fs'

interface Report {
  numPassedTests: number
  numFailedTests: number
  testResults: { status: string; assertionResults: unknown[] }[]
}

function readReport(file: string | undefined): Report | undefined {
  const text = file && existsSync(file) ? readFileSync(file, 'utf8') : ''
  return text === '' ? undefined : (JSON.parse(text) as Report)
}

const report = readReport(process.argv[2])
const broken =
  report?.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0) ?? []
const passed = report?.numPassedTests ?? 0
const failed = report ? report.numFailedTests + broken.length : 1

console.log(`${passed} passed, ${failed} failed`)
