// What must be true at the end of the team scenario, whatever was killed and however many engines took part; as
// complaints, so that a planted fault can be shown to cause one.
import type { Engine } from '../../src/engine/engine-api.ts'
import type { Call } from '../../src/entities/call.ts'
import type { TaskEvent } from '../../src/entities/event.ts'
import type { ConsolidationRecord, FactRecord, ObservationRecord } from '../../src/entities/memory.ts'
import type { Message } from '../../src/entities/message.ts'
import type { Task } from '../../src/entities/task.ts'
import type { StintRecord, TeamRecord } from '../../src/entities/team.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { history } from '../engine/world.ts'
import { finding, remark, workers } from './team-scenario.ts'
import { factsOn } from './team-world.ts'

interface Worked {
  task: Task
  calls: Call[]
  messages: Message[]
}

export interface TeamEvidence {
  team: TeamRecord | undefined
  workers: Worked[]
  stints: StintRecord[]
  observations: ObservationRecord[]
  events: TaskEvent[]
  runs: ConsolidationRecord[]
  facts: { task: FactRecord[]; main: FactRecord[] }
  later: Message[]
}

const latest = Number.MAX_SAFE_INTEGER

export async function gatherTeam(
  engine: Engine<any>,
  ledger: Ledger,
  { team, later }: { team: string; later: string },
): Promise<TeamEvidence> {
  const worked: Worked[] = []
  for (const task of await engine.children(team)) {
    worked.push({ task, calls: await engine.calls(task.id), messages: await engine.messages(task.id) })
  }
  const read = await ledger.read(function* (tx) {
    return {
      team: yield* tx.team.get(team),
      stints: yield* tx.team.stints(team),
      observations: yield* tx.observation.list({ taskId: team }, 1_000, latest),
      runs: yield* tx.consolidation.list({ taskId: team }, 1_000, latest),
    }
  })
  const facts = { task: await factsOn(ledger, read.team?.branch as string), main: await factsOn(ledger, 'main') }
  return { ...read, workers: worked, events: await history(engine, team), facts, later: await engine.messages(later) }
}

export function teamComplaints(evidence: TeamEvidence): string[] {
  return [...ends(evidence), ...observations(evidence), ...consolidations(evidence), ...knowledge(evidence)]
}

/** Each worker was one agent in one stint, and ended once; so did the team. */
function ends({ team, workers: worked, stints, events }: TeamEvidence): string[] {
  const shown = stints.map(({ agentId, number, status, workerId }) => `${agentId} ${number} ${status} ${workerId}`)
  const expected = worked.map(({ task }) => `${task.executor} 1 completed ${task.id}`)
  const count = (type: string, agentId?: string) =>
    events.filter((event) => event.type === type && (agentId === undefined || event.data['agentId'] === agentId)).length
  const once = (what: string, times: number) => (times === 1 ? [] : [`${what} ${times} times`])
  return [
    ...worked.filter(({ task }) => task.status !== 'completed').map(({ task }) => `${task.name} is ${task.status}`),
    ...(shown.join() === expected.join() ? [] : [`the stints are ${shown.join(', ')}`]),
    ...workers.flatMap((name) => once(`${name} joined`, count('agent.joined', name))),
    ...workers.flatMap((name) => once(`${name} was completed`, count('agent.completed', name))),
    ...once('the team was closed', count('team.closed')),
    ...(team?.closedAt == null ? ['the team is open'] : []),
  ]
}

/** One observation for each begun call and for each answer, at its end, and processed by the one run of its agent. */
function observations({ workers: worked, observations: found }: TeamEvidence): string[] {
  const expected = new Map<string, string>()
  for (const { task, calls, messages } of worked) {
    for (const { id, startMessageId, status } of calls) {
      const type = status === 'completed' ? 'tool_use' : 'error'
      if (startMessageId !== null) expected.set(`obs-${id}`, `${type} ${task.executor}`)
    }
    for (const { id, step } of messages)
      if (step?.calls.length === 0) expected.set(`obs-${id}`, `insight ${task.executor}`)
  }
  const complaints: string[] = []
  for (const { id, type, agentId, content, consolidatedBy } of found) {
    const said = expected.get(id)
    if (said === undefined) complaints.push(`no effect matches the observation: ${content}`)
    else if (said !== `${type} ${agentId}`) complaints.push(`${said} was observed as ${type} of ${agentId}`)
    if (type === 'insight' && consolidatedBy === null) complaints.push(`${content} was never taken up`)
    expected.delete(id)
  }
  return [...complaints, ...[...expected].map(([id, what]) => `${what} was not observed (${id})`)]
}

function consolidations({ runs, team }: TeamEvidence): string[] {
  const count = (type: string) => runs.filter((run) => run.type === type).length
  const expected = { agent_complete: 3, task_checkpoint: 1, merge: 4 }
  const wrong = Object.entries(expected).filter(([type, times]) => count(type) !== times)
  return [
    ...wrong.map(([type]) => `${type} ran ${count(type)} times`),
    ...(runs.some(({ id }) => id === team?.mergeId) ? [] : ['the merge of the team is not in the history']),
  ]
}

/** Seen by two agents: certain, durable, known to later tasks. Seen by one: stays on its branch. */
function knowledge({ facts, later }: TeamEvidence): string[] {
  const shown = (found: readonly FactRecord[]) =>
    found.map(({ text, confidence }) => `${text} ${confidence}`).join(' | ')
  const recalled = later.some(({ role, content }) => role === 'user' && content.includes(finding))
  const obeyed = later.some(({ role, content }) => role === 'system' && content.includes(finding))
  return [
    ...(shown(facts.task) === `${finding} 80 | ${remark} 70` ? [] : [`the facts of the team: ${shown(facts.task)}`]),
    ...(shown(facts.main) === `${finding} 80` ? [] : [`the facts of main: ${shown(facts.main)}`]),
    ...(recalled ? [] : ['the later task recalls nothing']),
    ...(obeyed ? ['what the later task recalls stands in its system message'] : []),
  ]
}
