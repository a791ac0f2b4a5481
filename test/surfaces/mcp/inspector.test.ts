// The inspector, the tool that authors of the protocol give to authors of servers: it finds our tools portable and can call each of
// them, in both eras. It is installed when it is missing; that takes some ten seconds, once.
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { installInspector } from '../../../scripts/install-inspector.ts'
import type { Run } from '../../../src/executor.ts'
import { serveMcpHttp } from '../../../src/surfaces/mcp/index.ts'
import { usualAbilities } from '../../../src/surfaces/mcp/mcp-options.ts'
import { ledgerFile, openEngine } from '../../engine/world.ts'
import { type Era, eras, serverScript, token } from './world.ts'

const badServer = join(import.meta.dirname, 'unportable-server.ts')

let inspector = ''
beforeAll(() => {
  inspector = installInspector()
}, 300_000)

interface Inspection {
  code: number | string | null
  out: string
  err: string
}

/** `target` is the command that starts a server, or where it listens. */
function inspect(target: string[], args: string[], era: Era = 'modern'): Promise<Inspection> {
  const home = ledgerFile().replace(/errand\.db$/, 'home')
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const command = [inspector, '--cli', ...target, ...args, '--protocol-era', era, '--format', 'json']
  const options = { timeout: 30_000, env: { ...process.env, HOME: home } } as const
  return new Promise((resolve) => {
    execFile(process.execPath, command, options, (error, out, err) => {
      resolve({ code: error === null ? 0 : (error.code ?? 'killed'), out, err })
    })
  })
}

const resultOf = ({ out }: Inspection) => {
  const json = JSON.parse(out) as { result?: Record<string, unknown> }
  return (json.result ?? json) as {
    tools: Array<{ name: string }>
    isError?: boolean
    structuredContent?: Record<string, unknown>
  }
}

describe.each(eras)('The inspector, in the %s era', (era) => {
  it('finds every tool of the usual list portable', async () => {
    const run = await inspect(
      [process.execPath, serverScript, ledgerFile()],
      ['--method', 'tools/list', '--strict'],
      era,
    )
    expect({ code: run.code, errors: run.err.match(/^Error: tool.*/gm) }).toEqual({ code: 0, errors: null })
    const names = resultOf(run).tools.map(({ name }) => name)
    const single = usualAbilities.filter((id) => !id.endsWith('*'))
    expect(names).toEqual(expect.arrayContaining(single.map((id) => id.replace(':', '_'))))
  }, 60_000)
})

describe('The inspector', () => {
  it('would say so if one were not', async () => {
    const run = await inspect([process.execPath, badServer], ['--method', 'tools/list', '--strict'])
    expect(run.code).toBe(6)
  }, 60_000)

  it('calls every tool for tasks', async () => {
    const engine = await openEngine({
      executors: {
        echo: (task: { input: unknown }) => task.input,
        asks: async (_task: unknown, run: Run) => run.ask('Which colour?'),
      },
    })
    const { url, close } = await serveMcpHttp(engine, { token })
    onTestFinished(close)
    const target = ['--server-url', url, '--header', `Authorization: Bearer ${token}`]
    const call = async (name: string, input: object) => {
      const run = await inspect(target, [
        '--method',
        'tools/call',
        '--tool-name',
        name,
        '--tool-args-json',
        JSON.stringify(input),
      ])
      expect(run).toMatchObject({ code: 0 })
      return resultOf(run).structuredContent ?? {}
    }
    const { taskId } = await call('task_create', { goal: 'Say hello', executor: 'echo', input: 'hello' })
    expect(await call('task_wait', { taskIds: [taskId] })).toMatchObject({ tasks: [{ result: 'hello' }] })
    const asked = new Promise<void>((resolve) => engine.subscribe('task.input_required', () => resolve()))
    const asking = await engine.create({ executor: 'asks' })
    await asked
    const open = await engine.create({ name: 'By hand' })
    const answers = {
      task_get: await call('task_get', { taskId }),
      task_list: await call('task_list', {}),
      task_messages: await call('task_messages', { taskId }),
      task_send: await call('task_send', { taskId, message: 'Thanks' }),
      task_answer: await call('task_answer', { taskId: asking.id, value: 'blue' }),
      task_cancel: await call('task_cancel', { taskId: open.id, reason: 'Enough' }),
    }
    expect(answers).toMatchObject({
      task_get: { task: { id: taskId, status: 'completed' } },
      task_list: { total: 3 },
      task_messages: { messages: expect.any(Array) as unknown[] },
      task_send: { success: false, status: 'completed' },
      task_answer: { taskId: asking.id },
      task_cancel: { success: true },
    })
  }, 120_000)
})
