// `errand memory observe`, `consolidate` and `history`: what was seen in sessions, what was made of it, and when.

import { systemClock } from '../../../../core/clock.ts'
import { didYouMean } from '../../../../core/did-you-mean.ts'
import { nearestName } from '../../../../core/errors.ts'
import type { Engine } from '../../../../engine-api.ts'
import {
  type ConsolidationLevel,
  type ConsolidationType,
  consolidationLevels,
  consolidationTypes,
  observationTypes,
} from '../../../../entities/memory.ts'
import { lists, misuse, oneOf, texts, wholeNumber } from '../../../../terminal/arguments.ts'
import { cliCaller, statementCaller } from '../../../../terminal/caller.ts'
import { note, printValue } from '../../../../terminal/io.ts'
import { historyColumns, whatItDid } from '../../../../terminal/memory-text.ts'
import { printTable } from '../../../../terminal/table.ts'
import { indented } from '../../../../terminal/terminal-text.ts'
import { withLedger } from '../../open-ledger.ts'
import { findTask, optionalTaskId } from '../../task-ref.ts'
import { defineVerb } from '../../verb.ts'

export const observe = defineVerb({
  usage: 'memory observe --session S --type T TEXT… [--task ID] [--agent A] [--branch B] [--outcome TEXT]',
  help: [
    'Notes what was seen, and prints the id of the observation. It becomes a fact, or makes one more certain, when its session is consolidated: at its end, when its agent leaves the task, or by "errand memory consolidate session".',
    '  --session S       any name that belongs to this session alone',
    `  --type T          ${observationTypes.join(', ')}; tool_use and error are kept to look at, and become no facts`,
    '  --task ID         the task that it was seen at work on',
    '  --agent A         who saw it; default: ERRAND_AGENT',
    '  --branch B        default: that of the agent on the task, else of the task, else main',
    '  --outcome TEXT    what came of it',
  ].join('\n'),
  options: texts('session', 'type', 'task', 'agent', 'branch', 'outcome'),
  positionals: { min: 1 },
  async run(io, { values, positionals }) {
    const { session: sessionId, type, branch, outcome } = values
    if (sessionId === undefined) throw misuse('Say in which session it was seen: --session NAME.')
    if (type === undefined) throw misuse(`Say what it is: --type ${observationTypes.join('|')}.`)
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

/** Under which name each is kept in the history. */
const runOf: Readonly<Record<ConsolidationLevel, ConsolidationType>> = {
  session: 'session_end',
  agent: 'agent_complete',
  task: 'task_checkpoint',
  project: 'project_checkpoint',
}

export const consolidate = defineVerb({
  usage: `memory consolidate ${consolidationLevels.join('|')} [--session S] [--agent A] [--task ID]… [--branch B]`,
  help: [
    'Consolidates memory, at one of its levels. What was done once is not done again. Texts are compared by their words here, whatever an engine of yours compares them by.',
    '  session  --session S [--branch B]: what was observed in it becomes facts',
    '  agent    --agent A [--task ID]: facts on its branch that say the same become one, and its summary is renewed',
    '  task     --task ID: which of the facts on its branch will last',
    '  project  [--task ID]… [--branch B]: what several tasks found is more certain, and what lasts reaches the branch above',
  ].join('\n'),
  options: { ...texts('session', 'agent', 'branch'), ...lists('task') },
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [word = ''] }) {
    const level = levelOf(word)
    const tasks = values.task ?? []
    if (level !== 'project' && tasks.length > 1) throw misuse('Only a project has several tasks: give --task once.')
    const request = { level, sessionId: values.session, agentId: values.agent, branch: values.branch }
    requireNamed(level, { session: values.session, agent: values.agent, task: tasks[0] })
    return await withLedger(io, values, async (engine) => {
      const named = await tasksOf(engine, level, tasks)
      const done = await engine.bus.call('mem:consolidate', { ...request, ...named }, cliCaller)
      const outcome = whatItDid({ ...done, type: runOf[level], durable: done.durable?.length })
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
    throw misuse(`Say which ${level}: "errand memory consolidate ${level} --${level} …".`)
}

async function tasksOf(engine: Engine, level: ConsolidationLevel, refs: readonly string[]) {
  const ids = await Promise.all(refs.map(async (ref) => (await findTask(engine, ref)).id))
  if (level === 'project') return ids.length === 0 ? {} : { taskIds: ids }
  return { taskId: ids[0] }
}

export const history = defineVerb({
  usage: 'memory history [--type T] [--task ID] [--agent A] [--session S] [--branch B] [--limit N]',
  help: [
    'Lists what each consolidation and each merge did, the latest first, with its session in brackets. Nothing of it is ever changed. --json gives one run a line, with its summary and what set it off.',
    `  --type T     only ${consolidationTypes.join(', ')}`,
    '  --task ID, --agent A, --session S  only what was about them',
    '  --branch B   only what came from this branch, or to it',
    '  --limit N    so many; default 50',
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
      const none = isNarrowed ? 'No run is like that.' : 'Nothing has been consolidated.'
      printTable(io, values, history, none, historyColumns(systemClock.now()))
      if (next !== null) note(io, 'There are more: --limit.')
    })
  },
})
