// `errand mcp` over stdio, the built program with the real client of the protocol: one agent. test/long has the options, HTTP and disconnections.
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, it, onTestFinished } from 'vitest'
import { binFile, Workplace } from './workplace.ts'

it('errand mcp lets an agent create, claim and complete a task, which the board shows', async () => {
  await using place = new Workplace()
  const env = { PATH: process.env['PATH'] ?? '', ERRAND_LEDGER: join(place.folder, 'ledger.db') }
  const args = [binFile, 'mcp', '--as', 'ann']
  const client = new Client({ name: 'Test Client', version: '1' })
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd: place.folder, env }))
  onTestFinished(() => client.close())
  const call = (name: string, input: Record<string, unknown>) => client.callTool({ name, arguments: input })
  await call('board_create', { subject: 'Parse' })
  expect(await call('board_claim', { id: 1 })).toMatchObject({ structuredContent: { task: { owner: 'ann' } } })
  expect(await call('board_complete', { id: 1 })).toMatchObject({
    structuredContent: { task: { status: 'completed' } },
  })
  expect((await place.errand('board')).out).toBe('[x] #1: Parse @ann\n')
})
