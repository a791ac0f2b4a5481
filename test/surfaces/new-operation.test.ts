// One object makes an operation: a planted one, which is added to the list of tasks and nowhere else, is found on every surface. In a
// process of its own, because the surfaces read the list when they are loaded.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from 'vitest'
import { Workplace } from './cli/workplace.ts'
import type { Report } from './planted-operation.ts'

let report: Report

beforeAll(async () => {
  // From its source: a bundle loads the surfaces first.
  const program = join(import.meta.dirname, 'planted-operation.ts')
  await using place = new Workplace()
  const { stdout } = await promisify(execFile)(process.execPath, [program, join(place.folder, 'ledger.db')])
  report = JSON.parse(stdout) as Report
})

it('a new operation is an ability on the bus and a method of the engine', () => {
  expect(report).toMatchObject({ bus: 'on the bus', method: 'by the method' })
})

it('a new operation has its HTTP route and is in the OpenAPI document', () => {
  expect(report).toMatchObject({ http: 'over HTTP', openapi: 'describeTask' })
})

it('a new operation is a verb of the command line, in its help and in the completion of shells', () => {
  expect(report.cli).toBe('on the command line')
  expect(report.overview).toContain('  describe    replace the description of a task\n')
  expect(report.help).toContain('Usage: errand describe ID… [--text TEXT]')
  expect(report.completion).toContain(" describe') verbs='' options='--text")
})

it('a new operation is a command of the REPL', () => {
  expect(report.repl).toBe('in the REPL')
  expect(report.replHelp).toContain('/describe TASK… [--text TEXT]\n')
})

it('a new operation is an MCP tool', () => {
  expect(report.mcp).toBe('over MCP')
})
