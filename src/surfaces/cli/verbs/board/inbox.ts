// `errand board inbox`: what a member of the team was told, each message once.
import { isoTime } from '../../../../clock.ts'
import { switches, texts } from '../../arguments.ts'
import { boardOptions, fromHere, requireMember, withBoard } from '../../board-place.ts'
import { type CommandIo, note, print, printJson } from '../../io.ts'
import { shellCommand } from '../../shell-words.ts'
import { cleanLine } from '../../terminal-text.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'board inbox [--as NAME] [--keep]',
  help: [
    'Prints your unread messages, the oldest first, and takes them out of your inbox. --json gives one a line.',
    '  --as NAME  who you are; default: ERRAND_AGENT, else ERRAND_OWNER',
    '  --keep     only looks: they stay unread',
  ].join('\n'),
  options: { ...boardOptions, ...texts('as'), ...switches('keep') },
  positionals: { max: 0 },
  async run(io, { values }) {
    const as = requireMember(io, values)
    return await withBoard(io, values, async ({ engine, board }) => {
      const inbox = await engine.bus.call('board:inbox', { as, keep: values.keep === true, board }, fromHere)
      for (const mail of inbox.mail) {
        if (values.json) printJson(io, mail)
        else describe(io, mail)
      }
      if (inbox.mail.length === 0 && !values.json) print(io, 'No messages.')
      if (inbox.more) note(io, 'There are more.')
    })
  },
})

interface Mail {
  from: string
  kind: 'message' | 'request' | 'response'
  topic?: string | undefined
  body: string
  requestId?: string | undefined
  verdict?: string | undefined
  sentAt: number
}

function describe(io: CommandIo, { from, kind, topic, body, requestId, verdict, sentAt }: Mail): void {
  const what = [kind === 'message' ? '' : kind, topic ?? '', kind === 'response' ? (verdict ?? '') : '']
  print(io, cleanLine(`${isoTime(sentAt)} ${from} ${what.join(' ')}`))
  if (body !== '') print(io, `  ${body.replaceAll('\n', '\n  ')}`)
  if (kind === 'request' && requestId !== undefined)
    print(io, `    ${shellCommand('errand', 'board', 'respond', requestId, 'approve')}`)
}
