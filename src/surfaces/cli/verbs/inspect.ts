// `errand inspect`: watch the tasks of a ledger, whoever works on them: a page in the browser, and what inspectors for XState connect
// to, until it is told to stop. It works on nothing and changes nothing.

import { messageOf } from '../../../core/stored-error.ts'
import type { Engine } from '../../../engine-api.ts'
import { type FlagsOf, lists, switches, texts, wholeNumber } from '../../../terminal/arguments.ts'
import { exitCodes } from '../../../terminal/exit-code.ts'
import { type CommandIo, note, printValue } from '../../../terminal/io.ts'
import { aborted, StopListener } from '../../../terminal/stop-listener.ts'
import { withLedger } from '../open-ledger.ts'
import { orMisuse } from '../serving.ts'
import { defineVerb } from '../verb.ts'

const options = { ...texts('port', 'inspector-port'), ...lists('redact'), ...switches('no-page') }

export const inspect = defineVerb({
  usage: 'inspect [--port N] [--inspector-port N] [--redact KEY]… [--no-page]',
  help: [
    'Shows what the tasks of the ledger do, whichever process works on them, until Ctrl-C: a page to look at, which needs no internet, and an address for inspectors of state machines (the receiver of @statelyai/inspect). It works on nothing, and whoever has its token can read, and change nothing. Both are reached from this machine alone.',
    '  --port N            where the page is; default: a free one',
    '  --inspector-port N  where inspectors connect to; default: a free one',
    '  --redact KEY        a further key whose values inspectors are not told, beside those that speak of tokens, passwords and the like; may be given several times',
    '  --no-page           only for inspectors',
    '  --json              { "url", "inspector", "token" } in place of the lines; without a page, no "url"',
  ].join('\n'),
  options,
  positionals: { max: 0 },
  async run(io, { values }) {
    using stop = new StopListener(io)
    return await withLedger(io, values, (engine) => showUntil(io, engine, values, stop.signal))
  },
})

type InspectFlags = FlagsOf<typeof options>

async function showUntil(io: CommandIo, engine: Engine, flags: InspectFlags, signal: AbortSignal): Promise<number> {
  const { serveInspector } = await import('../../inspector/index.ts')
  const port = portOf(flags, 'inspector-port')
  const inspector = await orMisuse(serveInspector(engine, { tasks: 'all', port, redact: flags.redact }))
  try {
    const page = flags['no-page'] ? undefined : await servePage(io, engine, inspector.token, portOf(flags, 'port'))
    try {
      const { url, token } = inspector
      const lines = [`inspector: ${url}`, `token: ${token}`]
      if (page !== undefined) lines.unshift(`page: ${page.url}`)
      printValue(io, flags, { url: page?.url, inspector: url, token }, lines)
      await aborted(signal)
    } finally {
      await page?.close()
    }
  } finally {
    await inspector.close()
  }
  return exitCodes.interrupted
}

function portOf(flags: InspectFlags, option: 'port' | 'inspector-port'): number {
  const text = flags[option]
  return text === undefined ? 0 : wholeNumber(option, text, 0)
}

/** The page for somebody who may look: what they would change is refused by the bus. */
async function servePage(io: CommandIo, engine: Engine, token: string, port: number) {
  const { serve } = await import('../../http/index.ts')
  const { bearsToken } = await import('../../../web/request-guard.ts')
  return await orMisuse(
    serve(engine, {
      port,
      authenticate: (request) => (bearsToken(request, token) ? { scopes: ['read'] } : null),
      onError: (error) => note(io, `errand inspect: ${messageOf(error)}`),
    }),
  )
}
