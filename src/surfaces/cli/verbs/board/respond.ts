// `errand board respond`: a yes or a no to what a member of the team has asked.
import { oneOf, texts } from '../../arguments.ts'
import { fromHere, requireMember } from '../../board-place.ts'
import { printValue } from '../../io.ts'
import { withLedger } from '../../open-ledger.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'board respond REQUEST approve|reject [TEXT] [--as NAME]',
  help: [
    'Answers a request that lies in your inbox, once: a shutdown, a plan, or whatever it is about.',
    '  --as NAME  who you are; default: ERRAND_AGENT, else ERRAND_OWNER',
  ].join('\n'),
  options: texts('as'),
  positionals: { min: 2, max: 3 },
  async run(io, { values, positionals: [requestId = '', verdict = '', body] }) {
    const as = requireMember(io, values)
    const approve = oneOf('verdict', verdict, ['approve', 'reject']) === 'approve'
    return await withLedger(io, values, async (engine) => {
      const answered = await engine.bus.call('board:respond', { requestId, approve, body, as }, fromHere)
      printValue(io, values, answered, `${approve ? 'Approved' : 'Rejected'}.`)
    })
  },
})
