// `errand memory observe`: notes what an agent, or a person, saw in a session.
import { observationTypes } from '../../../../entities/memory.ts'
import { misuse, oneOf, texts } from '../../arguments.ts'
import { fromHere } from '../../board-place.ts'
import { printValue } from '../../io.ts'
import { optionalTaskId } from '../../memory-place.ts'
import { withLedger } from '../../open-ledger.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
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
      const observed = await engine.bus.call('mem:observe', { ...observation, taskId }, fromHere)
      printValue(io, values, observed, observed.observationId)
    })
  },
})
