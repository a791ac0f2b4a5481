// `errand board send`, `inbox` and `respond`: messages and requests between the members of a team.

import type { Mail } from '../../../../board/team/mail.ts'
import { isoTime } from '../../../../core/clock.ts'
import { oneOf, switches, texts } from '../../../terminal/arguments.ts'
import { cliCaller } from '../../../terminal/caller.ts'
import { note, printItems, printValue } from '../../../terminal/io.ts'
import { shellCommand } from '../../../terminal/shell-quote.ts'
import { cleanLine, indented } from '../../../terminal/terminal-text.ts'
import { boardOptions, requireMember, withBoard } from '../../board-target.ts'
import { withLedger } from '../../open-ledger.ts'
import { argumentOrInput } from '../../read-input.ts'
import { defineVerb } from '../../verb.ts'

export const send = defineVerb({
  usage: 'board send NAME [TEXT] [--as NAME] [--topic TOPIC]',
  help: [
    'Sends a message to a member of the team, who may join later. Without TEXT, reads it from stdin.',
    '  --as NAME      your name; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --topic TOPIC  the topic, in one word',
  ].join('\n'),
  options: { ...boardOptions, ...texts('as', 'topic') },
  positionals: { min: 1, max: 2 },
  async run(io, { values, positionals: [to = '', given] }) {
    const as = requireMember(io, values)
    const body = await argumentOrInput(io, given, 'The message')
    return await withBoard(io, values, async ({ engine, board }) => {
      const sent = await engine.bus.call('board:send', { to, body, topic: values.topic, as, board }, cliCaller)
      printValue(io, values, sent, `Sent to ${to}.`)
    })
  },
})

export const inbox = defineVerb({
  usage: 'board inbox [--as NAME] [--keep]',
  help: [
    'Prints your unread messages, oldest first, and removes them from your inbox. --json prints one per line.',
    '  --as NAME  your name; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --keep     leave them unread',
  ].join('\n'),
  options: { ...boardOptions, ...texts('as'), ...switches('keep') },
  positionals: { max: 0 },
  async run(io, { values }) {
    const as = requireMember(io, values)
    return await withBoard(io, values, async ({ engine, board }) => {
      const { mail, more } = await engine.bus.call('board:inbox', { as, keep: values.keep === true, board }, cliCaller)
      printItems(io, values, mail, mail.length === 0 ? 'No messages.' : mail.flatMap(mailLines))
      if (more) note(io, 'There are more.')
    })
  },
})

function mailLines({ from, kind, topic, body, requestId, verdict, sentAt }: Mail): string[] {
  const what = [kind === 'message' ? '' : kind, topic ?? '', kind === 'response' ? (verdict ?? '') : '']
  const lines = [cleanLine(`${isoTime(sentAt)} ${from} ${what.join(' ')}`)]
  if (body !== '') lines.push(indented(body))
  if (kind === 'request' && requestId !== undefined)
    lines.push(`    ${shellCommand('errand', 'board', 'respond', requestId, 'approve')}`)
  return lines
}

export const respond = defineVerb({
  usage: 'board respond REQUEST approve|reject [TEXT] [--as NAME]',
  help: [
    'Answers a request in your inbox, such as a shutdown or a plan. A request can be answered once.',
    '  --as NAME  your name; default: ERRAND_AGENT, else ERRAND_OWNER',
  ].join('\n'),
  options: texts('as'),
  positionals: { min: 2, max: 3 },
  async run(io, { values, positionals: [requestId = '', verdict = '', body] }) {
    const as = requireMember(io, values)
    const approve = oneOf('verdict', verdict, ['approve', 'reject']) === 'approve'
    return await withLedger(io, values, async (engine) => {
      const answered = await engine.bus.call('board:respond', { requestId, approve, body, as }, cliCaller)
      printValue(io, values, answered, `${approve ? 'Approved' : 'Rejected'}.`)
    })
  },
})
