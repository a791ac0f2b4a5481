// A traced task whose process dies at one of its steps, and another process that continues. The spans of both are one list.
import { join } from 'node:path'
import { createOne, openEngine, type Place, startEngine } from '../crash/child.ts'
import type { CrashPoints } from '../crash/killing-ledger.ts'
import { type SeenSpan, spansIn, telemetryTo } from './spans.ts'

const task = { executor: 'everyStep', key: 'everyStep', retry: { maxAttempts: 3 } }
const fileOf = (place: Place): string => join(place.folder, 'spans')

/** In a process of its own, until it dies. `lateSpans` is the planted fault: spans end after what they are of is recorded. */
export const play = (place: Place, points: CrashPoints & { lateSpans?: boolean }) =>
  startEngine(place, { create: [task], leave: 'settled', spans: fileOf(place), ...points }).exited

/** In this process: completes the task. Returns what is wrong with the spans of both processes. */
export async function finish(place: Place): Promise<string[]> {
  const engine = await openEngine(place, { telemetry: telemetryTo(fileOf(place)) })
  const created = await createOne(engine, task)
  await engine.result(created, { timeoutMs: 10_000 })
  await engine.idle()
  const { tasks } = await engine.list()
  const complaints: string[] = []
  const spans = spansIn(fileOf(place))
  const spansOf = (key: string, value: unknown, taskId?: string) =>
    spans.filter(
      ({ attributes }) =>
        attributes[key] === value && (taskId === undefined || attributes['errand.task.id'] === taskId),
    )
  for (const { id: taskId, generation } of tasks) {
    const generations = Array.from({ length: generation }, (_, index) => index + 1)
    const calls = await Promise.all(generations.map((each) => engine.calls(taskId, { generation: each })))
    for (const call of calls.flat()) {
      const found = spansOf('errand.call.id', call.id).length
      // An interrupted call may have ended or not: its outcome is in no ledger.
      const isCertain = call.error?.code !== 'CALL_INTERRUPTED'
      if (found > 1) complaints.push(`call ${call.name} has ${found} spans`)
      if (found === 0 && isCertain) complaints.push(`call ${call.name} (${call.status}) has no span`)
    }
    for (const run of await engine.runs(taskId)) {
      const found = spansOf('errand.run', run.number, taskId).length
      if (found > 1) complaints.push(`run ${run.number} has ${found} spans`)
      // A suspended run is known as such only after its commit, so a kill between the two leaves it without a span.
      if (found === 0 && run.outcome === 'completed') complaints.push(`run ${run.number} has no span`)
    }
  }
  if (spans.some((span) => !isKnown(span))) complaints.push('a span is of nothing that the engine does')
  await engine.close()
  return complaints
}

function isKnown({ name }: SeenSpan): boolean {
  return /^(?:invoke_agent (?:everyStep|leaf)|execute_tool (?:one|two|leaf))$/.test(name)
}
