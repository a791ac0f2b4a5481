// Prints the numbers of passed and failed tests of vitest's JSON reports on one line. A test file that could not be loaded counts as
// one failure, and so does a missing report.

import { existsSync, readFileSync } from 'node:fs'

interface Report {
  numPassedTests: number
  numFailedTests: number
  testResults: { status: string; assertionResults: unknown[] }[]
}

function readReport(file: string): Report | undefined {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return text === '' ? undefined : (JSON.parse(text) as Report)
}

function failuresIn(report: Report): number {
  const broken = report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0)
  return report.numFailedTests + broken.length
}

const reports = process.argv.slice(2).map(readReport)
const passed = reports.reduce((sum, report) => sum + (report?.numPassedTests ?? 0), 0)
const failed = reports.reduce((sum, report) => sum + (report === undefined ? 1 : failuresIn(report)), 0)

console.log(`${passed} passed, ${failed} failed`)
