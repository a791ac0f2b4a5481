// `errand memory history`: what each run of consolidation did, and each merge.
import { systemClock } from '../../../../clock.ts'
import { consolidationTypes } from '../../../../entities/memory.ts'
import { oneOf, texts, wholeNumber } from '../../arguments.ts'
import { fromHere } from '../../board-place.ts'
import { note, printItems } from '../../io.ts'
import { optionalTaskId } from '../../memory-place.ts'
import { historyTable } from '../../memory-text.ts'
import { withLedger } from '../../open-ledger.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
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
      const { history, next } = await engine.bus.call('mem:history', { ...filter, taskId }, fromHere)
      printItems(
        io,
        values,
        history,
        history.length === 0
          ? isNarrowed
            ? 'No run is like that.'
            : 'Nothing has been consolidated.'
          : historyTable(history, systemClock.now(), io.stdout.columns),
      )
      if (next !== null) note(io, 'There are more: --limit.')
    })
  },
})
