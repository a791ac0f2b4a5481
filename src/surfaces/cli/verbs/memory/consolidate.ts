// `errand memory consolidate`: makes facts of observations, of facts fewer, and judges what lasts.
import type { Engine } from '../../../../api.ts'
import { type ConsolidationLevel, type ConsolidationType, consolidationLevels } from '../../../../entities/memory.ts'
import { nearestName } from '../../../../errors.ts'
import { lists, misuse, texts } from '../../arguments.ts'
import { fromHere } from '../../board-place.ts'
import { didYouMean } from '../../did-you-mean.ts'
import { print, printJson } from '../../io.ts'
import { whatItDid } from '../../memory-text.ts'
import { withLedger } from '../../open-ledger.ts'
import { findTask } from '../../task-ref.ts'
import { defineVerb } from '../../verb.ts'

/** Under which name each is kept in the history. */
const runOf: Readonly<Record<ConsolidationLevel, ConsolidationType>> = {
  session: 'session_end',
  agent: 'agent_complete',
  task: 'task_checkpoint',
  project: 'project_checkpoint',
}

export const verb = defineVerb({
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
      const done = await engine.bus.call('mem:consolidate', { ...request, ...named }, fromHere)
      if (values.json) printJson(io, done)
      else {
        const durable = done.durable?.length
        print(io, whatItDid({ ...done, type: runOf[level], durable }))
        if (done.summary !== undefined) print(io, `  ${done.summary.replaceAll('\n', '\n  ')}`)
      }
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
