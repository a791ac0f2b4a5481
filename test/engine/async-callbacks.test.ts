// Callbacks of the user that are async: their rejection is reported like an error that they throw. Unhandled, it would end the process
// (here vitest would fail the run).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { mirrorBoard } from '../../src/board/mirror/board-folders.ts'
import { createBus } from '../../src/bus/bus.ts'
import { TaskEventBus } from '../../src/compat/exo/task-event-bus.ts'
import { createEngine } from '../../src/engine/create-engine.ts'
import { createHttp } from '../../src/surfaces/http/create-http.ts'
import { openEngine } from './world.ts'

/** Typed as the synchronous function that a program with types may pass only by mistake. */
const rejecting = (message: string): (() => never) =>
  (async () => {
    await Promise.resolve()
    throw new Error(message)
  }) as unknown as () => never

/** The texts that are printed to the console. */
function printed(): string[] {
  const lines: string[] = []
  vi.spyOn(console, 'error').mockImplementation((...parts: unknown[]) => void lines.push(parts.map(String).join(' ')))
  return lines
}

it('observers, subscribers and listeners that reject are reported to onError', async () => {
  const doing = new Set<unknown>()
  const engine = await openEngine({
    executors: { quick: () => 1 },
    inspect: rejecting('inspect'),
    onError: (_error, context) => doing.add(context['doing']),
  })
  engine.status.subscribe(rejecting('status'))
  engine.status.select(({ lastEvent }) => lastEvent).subscribe(rejecting('select'))
  engine.subscribe('*', rejecting('subscribe'))
  engine.inspect({ next: rejecting('an object') })
  await engine.result(await engine.create({ executor: 'quick' }))
  await expect
    .poll(() => [...doing].map(String).sort())
    .toEqual(['notify a status listener', 'notify a subscriber', 'notify an inspector'])
})

it('an onError that rejects is printed with the error that it received', async () => {
  const lines = printed()
  const engine = await createEngine({ executors: { quick: () => 1 }, onError: rejecting('the reporter') })
  engine.subscribe('task.completed', rejecting('the handler'))
  await engine.result(await engine.create({ executor: 'quick' }))
  await expect.poll(() => lines.join('\n')).toMatch(/onError threw Error: the reporter.*errand: Error: the handler/s)
  await engine.close()
})

it('a listener of the bus that rejects is reported, and so is an onError of the bus that rejects', async () => {
  const lines = printed()
  const bus = createBus({ onError: rejecting('the reporter') })
  bus.onCall(rejecting('a listener of calls'))
  await bus.call('introspection:list', {}).catch(() => {})
  await expect.poll(() => lines.join('\n')).toMatch(/the reporter.*a listener of calls/s)
})

it('an onReport of a mirrored board that rejects is reported', async () => {
  const doing: unknown[] = []
  const engine = await openEngine({ onError: (_error, context) => doing.push(context['doing']) })
  const folder = mkdtempSync(join(tmpdir(), 'errand-mirror-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  await using mirror = await mirrorBoard(engine, { dir: join(folder, '.tasks'), onReport: rejecting('the report') })
  await mirror.sync()
  await engine.bus.call('board:create', { subject: 'Mirrored', description: '' })
  await expect.poll(() => doing).toContain('report on the mirror')
})

it('an onError of the HTTP service that rejects is printed, and the request is answered', async () => {
  const lines = printed()
  const engine = await openEngine()
  const http = createHttp(engine, { authenticate: rejecting('authenticate'), onError: rejecting('the reporter') })
  const response = await http.fetch(new Request('http://127.0.0.1/tasks'))
  expect(response.status).toBe(500)
  await expect.poll(() => lines.join('\n')).toContain('the reporter')
})

it('an onError of an exo event bus that rejects is printed with the error that it received', async () => {
  const lines = printed()
  const bus = new TaskEventBus({ onError: rejecting('the reporter') })
  bus.subscribe('*', rejecting('the handler'))
  await bus.emit({ event_type: 'task.created', task_id: 'a', timestamp: 1, data: {} } as never)
  await expect.poll(() => lines.join('\n')).toMatch(/the reporter.*the handler/s)
})
