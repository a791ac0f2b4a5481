// A resumed task whose last run is still ending: every surface shows it as queued, and none shows that it waits for a person.
import { expect, it } from 'vitest'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { mcpFetchHandler } from '../../src/surfaces/mcp/index.ts'
import { runScript } from '../../src/surfaces/repl/index.ts'
import { history, ledgerFile, openEngine, puppet } from '../engine/world.ts'
import { Workplace } from './cli/workplace.ts'
import { serve } from './http/world.ts'
import { modernRequest, post, tasksExtension, token } from './mcp/world.ts'

/** A task whose executor does not end its run before the test says so. */
async function setup(ledger = ledgerFile()) {
  const hands = puppet({ stubborn: true })
  const engine = await openEngine({ ledger, executors: { work: hands.executor }, abortGraceMs: 600_000 })
  const task = await engine.create({ executor: 'work', name: 'a' })
  const held = await hands.started(0)
  return { engine, hands, held, task }
}

it('a task whose last run is still ending is queued after a resume: as a method, in lists and counts, in `why` and in its event', async () => {
  const { engine, hands, held, task } = await setup()
  expect(await engine.pause(task)).toMatchObject({ status: 'paused', ready: false })
  expect(await engine.resume(task)).toMatchObject({ status: 'paused', ready: true })
  expect((await engine.list({ ready: true })).tasks).toMatchObject([{ id: task.id, ready: true }])
  expect((await engine.list({ ready: false })).total).toBe(0)
  expect(await engine.bus.call('engine:status', {})).toMatchObject({ queued: 1 })
  expect(await engine.why(task)).toMatchObject({
    reason: 'closing',
    message: 'It is queued: its last run (1) is still ending.',
  })
  expect((await history(engine, task.id)).at(-1)).toMatchObject({ type: 'task.resumed', data: { ready: true } })
  expect(await engine.pause(task)).toMatchObject({ status: 'paused', ready: false })
  await engine.resume(task)
  expect(hands.runs).toHaveLength(1)
  held.end.resolve('too late')
  ;(await hands.started(1)).end.resolve('in time')
  expect(await engine.result(task)).toBe('in time')
})

it('a task whose last run is still ending is queued after a retry', async () => {
  const { engine, hands, held, task } = await setup()
  await engine.fail(task, 'wrong')
  expect(await engine.retry(task)).toMatchObject({ status: 'submitted', ready: true })
  expect(await engine.why(task)).toMatchObject({ reason: 'closing' })
  expect(hands.runs).toHaveLength(1)
  held.end.resolve('too late')
  ;(await hands.started(1)).end.resolve('in time')
  expect(await engine.result(task)).toBe('in time')
})

it('a task whose last run is still ending is shown as queued by abilities, HTTP, the tools of MCP and the board', async () => {
  const { engine, held, task } = await setup()
  const taskId = task.id
  const { ask } = serve(engine)
  await engine.pause(task)
  expect(await engine.bus.call('task:resume', { taskId })).toMatchObject({ status: 'paused', ready: true })
  expect((await engine.bus.call('task:get', { taskId })).task).toMatchObject({ ready: true })
  expect((await engine.bus.call('task:list', {})).tasks).toMatchObject([{ ready: true, held: false }])
  expect((await ask('GET', `/tasks/${taskId}`)).body.task).toMatchObject({ ready: true })
  expect((await engine.bus.call('board:list', {})).tasks).toMatchObject([{ queued: true, ready: false }])
  const handler = mcpFetchHandler(engine, { token, abilities: ['lead'] })
  const polled = await post(handler, modernRequest('tasks/get', { taskId }, { extensions: { [tasksExtension]: {} } }))
  expect(polled.result).toMatchObject({ status: 'working', statusMessage: 'queued' })
  await handler.close()
  await engine.cancel(task)
  held.end.resolve('too late')
})

it('a task whose last run is still ending is shown as queued by the verbs of the command line and by the REPL', async () => {
  await using place = new Workplace()
  const { engine, held, task } = await setup(`${place.folder}/ledger.db`)
  await engine.pause(task)
  const out: string[] = []
  const collect = { write: (text: string) => out.push(text) }
  const io = { stdout: collect, stderr: collect }
  await runScript(engine, ['/resume 1', '/ps', '/inspect 1'], io)
  expect(out.join('')).toMatch(
    /^#1 a queued\n[^\n]*\n1 +\w+ +queued .*\n(?:.*\n)*state +queued, in the ledger paused\n/,
  )
  await engine.pause(task)
  for (const [args, words] of [
    [['resume', '#1'], /queued/],
    [['ps'], /^1 +\w+ +queued /m],
    [['tree'], /#1 a queued/],
    [['show', '#1'], /^#1 a: queued\n +It is queued: its last run \(1\) is still ending\./],
    [['why', '#1'], /It is queued/],
  ] as const) {
    const { out: said } = await place.errand(...args)
    expect(said, args.join(' ')).toMatch(words)
  }
  await engine.cancel(task)
  held.end.resolve('too late')
  // Before the folder of the ledger is removed.
  await engine.close()
})

it('a task whose last run is still ending is queued after its question was answered, and has no open question', async () => {
  const released = Promise.withResolvers<void>()
  const engine = await openEngine({
    executors: {
      asks: (_task: ExecutorTask, run: Run) => {
        run.onSuspend(() => released.promise)
        return run.ask('Well?')
      },
    },
  })
  const task = await engine.create({ executor: 'asks', name: 'a' })
  for await (const { type } of engine.events({ taskId: task.id })) if (type === 'task.input_required') break
  expect(await engine.why(task)).toMatchObject({ reason: 'answer' })
  expect(await engine.answer(task, 'yes')).toMatchObject({ status: 'input_required', ready: true, questions: [] })
  released.resolve()
  expect(await engine.result(task)).toBe('yes')
})
