// One refusal on every surface: the error code is the same everywhere, however the protocol transports it.
import { expect, it } from 'vitest'
import { createEngine } from '../../src/engine/create-engine.ts'
import { runScript } from '../../src/surfaces/repl/index.ts'
import { refusalOf } from '../engine/world.ts'
import { Workplace } from './cli/workplace.ts'
import { problemIn, serve } from './http/world.ts'
import { connectByHand, toolErrorOf } from './mcp/world.ts'

async function world() {
  const place = new Workplace()
  const engine = await createEngine({ ledger: `${place.folder}/ledger.db`, work: false })
  const task = await engine.create({ name: 'held' })
  return { place, engine, task }
}

it.each([
  {
    code: 'INVALID_TRANSITION' as const,
    status: 409,
    verb: ['pause', '#1'],
    line: '/pause 1',
    ofTheSubject: (id: string) => id,
  },
  {
    code: 'NOT_FOUND' as const,
    status: 404,
    verb: ['pause', 'task-nowhere'],
    line: '/pause task-nowhere',
    ofTheSubject: () => 'task-nowhere',
  },
])(
  'X-032 a refusal has the code $code as method, ability, tool, route, line and verb',
  async ({ code, status, verb, line, ofTheSubject }) => {
    const { place, engine, task } = await world()
    await using _place = place
    await using _engine = engine
    const taskId = ofTheSubject(task.id)

    await refusalOf(engine.pause(taskId), code)
    await refusalOf(engine.bus.call('task:pause', { taskId }), code)

    const client = connectByHand(engine, { abilities: ['task:pause'] })
    expect(toolErrorOf(await client.call('task_pause', { taskId })).code).toBe(code)
    client.input.end()
    await client.ended

    const { http, ask } = serve(engine)
    const problem = problemIn(await ask('POST', `/tasks/${taskId}/pause`, {}))
    expect([problem.code, problem.status]).toEqual([code, status])
    await http.close()

    const printed: string[] = []
    const io = { stdout: { write: () => true }, stderr: { write: (text: string) => printed.push(text) > 0 } }
    expect(await runScript(engine, [line], io)).toBe(2)
    expect(printed.join('')).toMatch(new RegExp(`^errand repl: line 1: ${code}: `))

    const { code: exitCode, err } = await place.errand(...verb, '--json')
    expect(JSON.parse(err)).toMatchObject({ error: { code } })
    expect(exitCode).toBe(2)
  },
)
