// A secret passed through all inputs of an engine, and all places in which it could appear: what is stored, in files and beside them, what
// is published, answered and logged.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { onTestFinished } from 'vitest'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { CallContext } from '../../src/entities/call-options.ts'
import type { ExecutorTask, Run } from '../../src/entities/executor.ts'
import { createEngine, createShell, Failure, mirrorBoard, type RedactFunction } from '../../src/index.ts'
import { mcpFetchHandler } from '../../src/surfaces/mcp/index.ts'
import { echo, llm } from '../agents/world.ts'
import { reached } from '../engine/world.ts'
import { serve } from './http/world.ts'
import { modernRequest, post, token } from './mcp/world.ts'

/** A single word, so that an index of words contains it. */
export const canary = 'canary7f3a9c2b'

/** Prints the canary, which the command itself does not contain. */
const printed = `printf canary7f; echo 3a9c2b; printf canary7f >&2; echo 3a9c2b >&2; exit 3`

const word = (name: string) => `${name} ${canary}`

/** The output of each place. */
export type Outputs = Record<string, string>

/** Passes the canary to an engine through every input, and resolves to the outputs of every place. */
export async function outputsWithCanary(redact: RedactFunction | undefined): Promise<Outputs> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-canary-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const ledger = join(folder, 'ledger.db')
  const dir = join(folder, 'board')
  const outputs: Record<string, unknown[]> = {}
  const record = (place: string, what: unknown): void => {
    outputs[place] ??= []
    outputs[place].push(typeof what === 'string' ? what : inspect(what, { depth: 20, maxStringLength: null }))
  }

  const model = llm((_input, step) =>
    step === 1
      ? {
          content: word('I think of'),
          toolCalls: [{ id: 'c1', name: 'test_echo', arguments: { text: canary } }],
        }
      : { content: word('The answer is') },
  )
  const engine = (await createEngine({
    ledger,
    ...(redact === undefined ? {} : { redact }),
    abilities: [model.ability, echo],
    executors: { work: worker(record), child: failing, asking, shell: createShell() },
    onError: (error, context) => record('log', inspect([error, context], { depth: 20, maxStringLength: null })),
  })) as unknown as Engine
  onTestFinished(() => engine.close())
  engine.inspect(({ event, snapshot }) => {
    const { context, output, error } = (snapshot ?? {}) as { context?: unknown; output?: unknown; error?: unknown }
    record('inspector', inspect([event, context, output, error], { depth: 8, maxStringLength: null }))
  })
  engine.subscribe('*', (event) => record('events', event))
  engine.subscribe('task.created', () => {
    throw new Error(word('The subscriber saw'), { cause: new Error(canary) })
  })

  const http = serve(engine)
  const ask = async (method: string, path: string, body?: unknown): Promise<any> => {
    const reply = await http.ask(method, path, body)
    record('HTTP', reply.body)
    if (reply.status >= 400) throw new Error(`${method} ${path}: ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  const mcp = mcpFetchHandler(engine, { token, abilities: ['*'] })
  onTestFinished(() => mcp.close())
  const use = async (name: string, input: object): Promise<any> => {
    const reply = await post(mcp, modernRequest('tools/call', { name, arguments: input }))
    record('MCP', reply.text)
    const result = reply.result as { isError?: boolean; structuredContent?: unknown } | undefined
    if (result === undefined || result.isError) throw new Error(`${name}: ${reply.text}`)
    return result.structuredContent
  }
  const call = (ability: string, input: object): Promise<any> =>
    engine.bus.call(ability as string, input) as Promise<unknown>

  // A task with a run that uses the canary in every way that a run has.
  const { taskId } = await ask('POST', '/tasks', {
    executor: 'work',
    name: word('work'),
    description: word('about'),
    input: { key: canary, list: [canary] },
    metadata: { of: canary },
  })
  const streaming = (async () => {
    for await (const item of engine.stream(taskId as string)) record('streams', item)
  })()
  streaming.catch(() => {})
  await reached(engine, taskId, 'input_required')
  await call('task:note', { taskId, text: word('Noted') })
  await call('task:signal', { taskId, name: 'paid', payload: { by: canary } })
  await ask('PATCH', `/tasks/${taskId}`, { name: word('renamed'), metadata: { and: canary } })
  await ask('POST', `/tasks/${taskId}/answer`, { value: { so: canary } })
  await engine.settled(taskId)
  await streaming
  // A message from a person answers a question.
  const asked = await engine.create({ executor: 'asking' })
  await reached(engine, asked, 'input_required')
  await ask('POST', `/tasks/${asked.id}/messages`, { message: word('Message') })
  await engine.settled(asked)

  // Commands and agents.
  await engine.settled(await engine.create({ executor: 'shell', input: { run: printed, shell: '/bin/sh' } }))
  await engine.settled(await engine.create({ goal: `${word('Find')}\nand report`, systemPrompt: word('You know') }))

  // Work from outside, the board, its mail and its files.
  const mirror = await mirrorBoard(engine, { dir, watch: false, onReport: (report) => record('log', report) })
  onTestFinished(() => mirror.close())
  const subject = word('On the board')
  const { task: first } = await use('board_create', {
    subject,
    description: word('described'),
    metadata: { of: canary },
    activeForm: word('Doing'),
  })
  await use('board_update', { id: first.id, description: word('described anew'), activeForm: word('Still doing') })
  await call('board:send', { to: 'ann', body: word('Listen,'), topic: canary, as: 'bob' })
  await call('board:request', { to: 'ann', topic: 'plan_approval', body: word('The plan:'), as: 'bob' })
  await call('board:inbox', { as: 'ann' }).then((mail) => record('MCP', mail))
  await mirror.sync()
  writeFileSync(
    join(dir, 'task_900.json'),
    JSON.stringify({
      id: '900',
      subject: word('From a file'),
      description: canary,
      status: 'pending',
      blockedBy: [],
      blocks: [],
      owner: '',
      note: canary,
    }),
  )
  await mirror.sync()
  await mirror.sync()
  const parent = await engine.create({ name: 'p', tasks: { a: { name: 'a', role: 'r' }, b: { name: 'b', role: 'r' } } })
  await engine.cancel(parent, word('Stop,'))
  const byHand = await engine.create({ name: 'by hand' })
  const claimed = await engine.claim(byHand, { owner: 'ann' })
  await engine.fail(claimed as NonNullable<typeof claimed>, word('Failed for'))

  // A team and its memory.
  const team = await engine.create({ name: word('team'), objectives: [word('Reach')], type: 'bug' })
  const ref = { taskId: team.id, agentId: 'ann' }
  const { branch } = await ask('POST', `/tasks/${team.id}/join`, { agentId: 'ann', objectives: [1] })
  await ask('PATCH', `/tasks/${team.id}/objectives/1`, { status: 'done', notes: word('Done with') })
  await ask('POST', `/tasks/${team.id}/objectives`, { descriptions: [word('Also')] })
  await call('mem:observe', { ...ref, sessionId: 's', type: 'insight', content: word('Seen:'), outcome: canary })
  await call('mem:remember', { ...ref, text: word('It is so:') })
  await call('agent:complete', { ...ref, summary: word('I did') })
  await call('task:complete', { taskId: team.id, result: { of: canary }, summary: word('It came to') })

  // What readers get afterwards.
  const { tasks } = await engine.list({ limit: 100 })
  for (const { id } of tasks) {
    for (const part of ['', '/why', '/runs', '/calls', '/messages', '/events']) await ask('GET', `/tasks/${id}${part}`)
    await use('task_get', { taskId: id })
  }
  await use('board_list', {})
  await call('mem:facts', { branch }).then((facts) => record('HTTP', facts))
  await call('mem:observations', { branch }).then((seen) => record('HTTP', seen))
  await ask('GET', `/tasks/${team.id}/context`)
  await engine.idle()
  const files = (which: (name: string) => boolean, at: string) =>
    readdirSync(at)
      .filter(which)
      .map((name) => readFileSync(join(at, name), 'latin1'))
      .join('')
  // Another file of an open ledger must not be read here: closing it would release the locks that this process holds on it.
  const wal = files((name) => name === 'ledger.db-wal', folder)
  await mirror.close()
  await engine.close()
  return {
    ...Object.fromEntries(Object.entries(outputs).map(([place, texts]) => [place, texts.join('\n')])),
    'the write-ahead log': wal,
    'the ledger': files((name) => name.startsWith('ledger.db'), folder),
    'the files of the board': existsSync(dir) ? files((name) => name.endsWith('.json'), dir) : '',
  }
}

/** The places that contain the canary. */
export function placesWith(places: Outputs): string[] {
  return Object.keys(places)
    .filter((place) => (places[place] as string).toLowerCase().includes(canary))
    .sort()
}

function worker(record: (place: string, what: unknown) => void) {
  return async (task: ExecutorTask, run: Run) => {
    record('the executor', [task.name, task.input])
    const look = async (_params: unknown, { note }: CallContext) => {
      await note({ of: canary })
      return { found: canary, in: [canary] }
    }
    record('the executor', await run.call('look', { key: canary }, look))
    const broken = () => {
      throw new Failure(word('Not'), { details: { of: canary }, cause: new Error(canary) })
    }
    await run.call('break', broken).catch((error: unknown) => record('the executor', error))
    const lost = () => ({
      toJSON() {
        throw new Error(canary)
      },
    })
    await run.call('lose', lost).catch((error: unknown) => record('the executor', error))
    await run.message('assistant', word('I say'))
    await run.message('user', [word('You'), ' say'])
    run.emit(`${word('stored')}\n`, { store: true })
    run.emit(`${word('live')}\n`)
    await run.progress(0.5, word('half of'))
    const child = await run.spawn({ executor: 'child', name: word('child'), input: [canary] })
    record('the executor', await run.wait(child, { settled: true }))
    const answer = await run.ask(word('Really'), null, { default: { of: canary } })
    record('the executor', answer)
    return { answer, last: canary }
  }
}

function asking(_task: ExecutorTask, run: Run): Promise<unknown> {
  return run.ask(word('What'))
}

function failing(task: ExecutorTask): never {
  throw new Failure(`${word('I fail with')} and ${JSON.stringify(task.input)}`, {
    details: { of: canary },
    cause: new Error(canary),
  })
}
