// What must be true of the ledger at the end of the scenario, whatever was killed; as complaints, so that a planted
// fault can be shown to cause one.

import type { ScriptedPrompt } from '../../src/agents/models/scripted-model.ts'
import type { Engine } from '../../src/engine/engine-api.ts'
import type { Call } from '../../src/entities/call.ts'
import type { Message } from '../../src/entities/message.ts'
import type { Task } from '../../src/entities/task.ts'
import { ending, marksIn, script, scriptedSteps } from './kill-scenario.ts'

export interface Evidence {
  task: Task
  /** The scenario's task and its subtask. */
  tasks: Task[]
  calls: Call[]
  messages: Message[]
  marks: string[]
  /** The prompts of the model after the restart. */
  prompts: readonly ScriptedPrompt[]
}

export async function gather(
  engine: Engine,
  task: Task,
  effects: string,
  prompts: readonly ScriptedPrompt[],
): Promise<Evidence> {
  const tasks = [(await engine.get(task.id)) as Task, ...(await engine.subtree(task.id))]
  const calls: Call[] = []
  const messages: Message[] = []
  for (const { id } of tasks) {
    calls.push(...(await engine.calls(id)))
    messages.push(...(await engine.messages(id)))
  }
  return { task: tasks[0] as Task, tasks, calls, messages, marks: marksIn(effects), prompts }
}

export function complaintsOf(evidence: Evidence): string[] {
  return [...endings(evidence), ...steps(evidence), ...effects(evidence), ...lines(evidence), ...readByModel(evidence)]
}

function endings({ task, tasks }: Evidence): string[] {
  return [
    ...(tasks.length === 2 ? [] : [`there are ${tasks.length} tasks`]),
    ...tasks.filter(({ status }) => status !== 'completed').map(({ name, status }) => `${name} is ${status}`),
    ...(task.result === ending ? [] : [`the result is ${String(task.result)}`]),
  ]
}

/** Each step of the script is in the conversation once, whole, and every call that it requests has an end. */
function steps({ calls, messages }: Evidence): string[] {
  const taken = messages.filter(({ step }) => step !== null)
  const open = calls.filter(({ status }) => status !== 'completed' && status !== 'failed')
  const expected = script.map(({ text = '' }) => text).sort()
  const found = taken.map(({ content }) => content).sort()
  const asked = taken.reduce((sum, { step }) => sum + (step?.calls.length ?? 0), 0)
  return [
    ...(taken.length === scriptedSteps ? [] : [`${taken.length} steps were taken`]),
    ...(JSON.stringify(found) === JSON.stringify(expected) ? [] : [`the model said ${found.join(' | ')}`]),
    ...open.map(({ name, status }) => `${name} is ${status}`),
    ...(calls.length >= asked ? [] : [`${asked} calls were asked for, ${calls.length} are recorded`]),
  ]
}

/** No tool ran twice; completed calls ran; calls that were never interrupted ran. */
function effects({ calls, marks }: Evidence): string[] {
  const complaints: string[] = []
  const count = (what: string) => marks.filter((each) => each === what).length
  for (const what of new Set(marks)) if (count(what) > 1) complaints.push(`${what} was done ${count(what)} times`)
  for (const call of calls) {
    const what = (call.params as { mark?: string } | null)?.mark
    if (what === undefined) continue
    const interrupted = call.error?.code === 'CALL_INTERRUPTED'
    if (!interrupted && count(what) === 0) complaints.push(`${what} is ${call.status} and was never done`)
    if (call.status === 'failed' && !interrupted && call.name !== 'test:boom')
      complaints.push(`${what} failed: ${call.error?.message}`)
  }
  return complaints
}

/** Each call is announced to people once when it begins and once when it ends. */
function lines({ calls, messages }: Evidence): string[] {
  const complaints: string[] = []
  const byId = new Map(messages.map((message) => [message.id, message.content]))
  const ids = messages.map(({ id }) => id)
  if (new Set(ids).size !== ids.length) complaints.push('a message is there twice')
  for (const { name, status, error, startMessageId, endMessageId } of calls) {
    const end = byId.get(endMessageId ?? '')
    if (byId.get(startMessageId ?? '') !== `🔧 Calling ${name}...`) complaints.push(`${name} was not announced`)
    if (status === 'completed' && end !== `✓ ${name} completed`) complaints.push(`${name} ended as ${end}`)
    const expected = error?.message === 'Process crashed during execution' ? 'due to process crash' : error?.message
    if (status === 'failed' && !end?.includes(expected ?? '')) complaints.push(`${name} failed as ${end}`)
  }
  const announced = messages.filter(({ announcement, content }) => announcement && /^[🔧✓✗]/u.test(content))
  if (announced.length !== 2 * calls.length) complaints.push(`${announced.length} lines announce ${calls.length} calls`)
  return complaints
}

/** The model read of every call what the ledger says about it. */
function readByModel({ calls, messages, prompts }: Evidence): string[] {
  const complaints: string[] = []
  for (const { id, taskId, step } of messages) {
    if (step === null || step.calls.length === 0) continue
    const before = messages.filter((each) => each.taskId === taskId && each.step !== null)
    const turn = before.findIndex((each) => each.id === id) + 1
    const goal = messages.find((each) => each.taskId === taskId && each.role === 'user')?.content
    const asked = prompts.find((prompt) => prompt.goal === goal && prompt.turn === turn)
    // Prompted before the crash: the model object that read it has died.
    if (asked === undefined) continue
    const results = step.calls.map(({ ability, arguments: given }) => latest(calls, taskId, ability, given))
    const expected = results.map(resultOf).join('\n').trim()
    const read = asked.messages.findLast(({ role }) => role === 'tool')?.text
    if (read !== expected) complaints.push(`the model read "${read}" and not "${expected}"`)
  }
  return complaints
}

function latest(calls: readonly Call[], taskId: string, ability: string, given: string): Call | undefined {
  const written = (params: unknown) => (typeof params === 'string' ? params : JSON.stringify(params))
  return calls.findLast((call) => call.taskId === taskId && call.name === ability && written(call.params) === given)
}

function resultOf(call: Call | undefined): string {
  if (call?.status === 'completed') return typeof call.result === 'string' ? call.result : JSON.stringify(call.result)
  return `Error: ${call?.error?.message}`
}
