// `errand memory observe`, `consolidate` and `history`: observations of sessions, and how they become facts.

import { systemClock } from '../../../../core/clock.ts'
import { didYouMean } from '../../../../core/did-you-mean.ts'
import { nearestName } from '../../../../core/errors.ts'
import type { Engine } from '../../../../engine/engine-api.ts'
import {
  type ConsolidationLevel,
  type ConsolidationType,
  consolidationLevels,
  consolidationTypes,
  observationTypes,
} from '../../../../entities/memory.ts'
import { lists, misuse, oneOf, texts, wholeNumber } from '../../../terminal/arguments.ts'
import { cliCaller, statementCaller } from '../../../terminal/caller.ts'
import { note, printValue } from '../../../terminal/io.ts'
import { historyColumns, runSummary } from '../../../terminal/memory-text.ts'
import { printTable } from '../../../terminal/table.ts'
import { indented } from '../../../terminal/terminal-text.ts'
import { withLedger } from '../../open-ledger.ts'
import { findTask, optionalTaskId } from '../../task-ref.ts'
import { defineVerb } from '../../verb.ts'

export const observe = defineVerb({
  usage: 'memory observe --session S --type T TEXT… [--task ID] [--agent A] [--branch B] [--outcome TEXT]',
  help: [
    'Records an observation and prints its id. It becomes a fact, or raises the confidence of one, when its session is consolidated: when the session ends, when its agent leaves the task, or by "errand memory consolidate session".',
    '  --session S       a name that identifies the session',
    `  --type T          ${observationTypes.join(', ')}; tool_use and error are stored, and do not become facts`,
    '  --task ID         the task of the session',
    '  --agent A         the observer; default: ERRAND_AGENT',
    '  --branch B        default: the branch of the agent on the task, else of the task, else main',
    '  --outcome TEXT    the outcome of what was observed',
  ].join('\n'),
  options: texts('session', 'type', 'task', 'agent', 'branch', 'outcome'),
  positionals: { min: 1 },
  async run(io, { values, positionals }) {
    const { session: sessionId, type, branch, outcome } = values
    if (sessionId === undefined) throw misuse('The session is missing: give --session NAME.')
    if (type === undefined) throw misuse(`The type is missing: give --type ${observationTypes.join('|')}.`)
    const observation = {
      sessionId,
      type: oneOf('type', type, observationTypes),
      content: positionals.join(' '),
      agentId: values.agent ?? io.env['ERRAND_AGENT'],
      branch,
      outcome,
    }
    return await withLedger(io, values, async (engine) => {
      const taskId = await optionalTaskId(engine, values.task)
      const observed = await engine.bus.call('mem:observe', { ...observation, taskId }, statementCaller(io))
      printValue(io, values, observed, observed.observationId)
    })
  },
})

/** The type of each level in the history. */
const runOf: Readonly<Record<ConsolidationLevel, ConsolidationType>> = {
  session: 'session_end',
  agent: 'agent_complete',
  task: 'task_checkpoint',
  project: 'project_checkpoint',
}

export const consolidate = defineVerb({
  usage: `memory consolidate ${consolidationLevels.join('|')} [--session S] [--agent A] [--task ID]… [--branch B]`,
  help: [
    'Consolidates memory at one level. Repeating it changes nothing. Texts are compared by their words here, even if your engine uses another comparison.',
    '  session  --session S [--branch B]: observations of the session become facts',
    '  agent    --agent A [--task ID]: facts on its branch that say the same are combined, and its summary is renewed',
    '  task     --task ID: chooses the durable facts on its branch',
    '  project  [--task ID]… [--branch B]: raises the confidence of facts that several tasks found, and merges durable ones into the branch above',
  ].join('\n'),
  options: { ...texts('session', 'agent', 'branch'), ...lists('task') },
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [word = ''] }) {
    const level = levelOf(word)
    const tasks = values.task ?? []
    if (level !== 'project' && tasks.length > 1)
      throw misuse('Only the level project takes several tasks: give --task once.')
    const request = { level, sessionId: values.session, agentId: values.agent, branch: values.branch }
    requireNamed(level, { session: values.session, agent: values.agent, task: tasks[0] })
    return await withLedger(io, values, async (engine) => {
      const named = await tasksOf(engine, level, tasks)
      const done = await engine.bus.call('mem:consolidate', { ...request, ...named }, cliCaller)
      const outcome = runSummary({ ...done, type: runOf[level], durable: done.durable?.length })
      printValue(io, values, done, [outcome, ...(done.summary === undefined ? [] : [indented(done.summary)])])
    })
  },
})

function levelOf(word: string): ConsolidationLevel {
  const level = consolidationLevels.find((each) => each === word)
  if (level !== undefined) return level
  const nearest = nearestName(word, consolidationLevels)
  throw misuse(`There is no level "${word}".${didYouMean(nearest)} It is one of: ${consolidationLevels.join(', ')}.`, {
    level: word,
    nearest,
  })
}

function requireNamed(
  level: ConsolidationLevel,
  given: Record<Exclude<ConsolidationLevel, 'project'>, string | undefined>,
): void {
  if (level !== 'project' && given[level] === undefined)
    throw misuse(`The ${level} is missing: "errand memory consolidate ${level} --${level} …".`)
}

async function tasksOf(engine: Engine, level: ConsolidationLevel, refs: readonly string[]) {
  const ids = await Promise.all(refs.map(async (ref) => (await findTask(engine, ref)).id))
  if (level === 'project') return ids.length === 0 ? {} : { taskIds: ids }
  return { taskId: ids[0] }
}

export const history = defineVerb({
  usage: 'memory history [--type T] [--task ID] [--agent A] [--session S] [--branch B] [--limit N]',
  help: [
    'Lists consolidations and merges and their results, latest first, with the session in brackets. Entries are never changed. --json prints one per line, with its summary and trigger.',
    `  --type T     only this type: ${consolidationTypes.join(', ')}`,
    '  --task ID, --agent A, --session S  only those of this task, agent or session',
    '  --branch B   only those from or to this branch',
    '  --limit N    how many; default 50',
  ].join('\n'),
  options: texts('type', 'task', 'agent', 'session', 'branch', 'limit'),
  positionals: { max: 0 },
  async run(io, { values }) {
    const filter = {
      type: values.type === undefined ? undefined : oneOf('type', values.type, consolidationTypes),
      agentId: values.agent,
      sessionId: values.session,
      branch: values.branch,
      limit: values.limit === undefined ? undefined : wholeNumber('limit', values.limit, 1),
    }
    const isNarrowed = [values.type, values.task, values.agent, values.session, values.branch].some(Boolean)
    return await withLedger(io, values, async (engine) => {
      const taskId = await optionalTaskId(engine, values.task)
      const { history, next } = await engine.bus.call('mem:history', { ...filter, taskId }, cliCaller)
      const none = isNarrowed ? 'No entry matches.' : 'Nothing has been consolidated.'
      printTable(io, values, history, none, historyColumns(systemClock.now()))
      if (next !== null) note(io, 'There are more; use --limit.')
    })
  },
})
