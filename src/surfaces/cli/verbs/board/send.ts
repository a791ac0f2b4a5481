// `errand board send`: a message to a member of the team.
import { texts } from '../../arguments.ts'
import { boardOptions, fromHere, requireMember, withBoard } from '../../board-place.ts'
import { printValue } from '../../io.ts'
import { argumentOrInput } from '../../read-input.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'board send NAME [TEXT] [--as NAME] [--topic TOPIC]',
  help: [
    'Puts a message into the inbox of a member of the team, who need not be there yet. Without TEXT it is read from stdin.',
    '  --as NAME      who you are; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --topic TOPIC  what it is about, in a word',
  ].join('\n'),
  options: { ...boardOptions, ...texts('as', 'topic') },
  positionals: { min: 1, max: 2 },
  async run(io, { values, positionals: [to = '', given] }) {
    const as = requireMember(io, values)
    const body = await argumentOrInput(io, given, 'The message')
    return await withBoard(io, values, async ({ engine, board }) => {
      const sent = await engine.bus.call('board:send', { to, body, topic: values.topic, as, board }, fromHere)
      printValue(io, values, sent, `Sent to ${to}.`)
    })
  },
})
