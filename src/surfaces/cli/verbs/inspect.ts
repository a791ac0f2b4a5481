// `errand inspect`: shows the tasks of a ledger in a page in the browser, and to inspectors for XState, until it is interrupted. Runs
// no tasks and changes nothing.

import { messageOf } from '../../../core/stored-error.ts'
import type { Engine } from '../../../engine/engine-api.ts'
import { type FlagsOf, lists, switches, texts, wholeNumber } from '../../terminal/arguments.ts'
import { exitCodes } from '../../terminal/exit-code.ts'
import { type CommandIo, note, printValue } from '../../terminal/io.ts'
import { aborted, StopListener } from '../../terminal/stop-listener.ts'
import { tokenCheck } from '../../web/request-guard.ts'
import { withLedger } from '../open-ledger.ts'
import { orMisuse } from '../serving.ts'
import { defineVerb } from '../verb.ts'

const options = { ...texts('port', 'inspector-port'), ...lists('redact'), ...switches('no-page') }

export const inspect = defineVerb({
  usage: 'inspect [--port N] [--inspector-port N] [--redact KEY]… [--no-page]',
  help: [
    'Shows the tasks of the ledger, in all processes, until Ctrl-C: on a page, which needs no internet, and to inspectors of state machines (the receiver of @statelyai/inspect). Runs no tasks. The token permits reading only, and both addresses are reachable from this machine only.',
    '  --port N            port of the page; default: a free port',
    '  --inspector-port N  port for inspectors; default: a free port',
    '  --redact KEY        hide the values of this key from inspectors, in addition to tokens, passwords and the like; may be given several times',
    '  --no-page           only serve inspectors',
    '  --json              print { "url", "inspector", "token" } instead; without a page, no "url"',
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

/** Serves the page with the scope `read`: the bus refuses changes. */
async function servePage(io: CommandIo, engine: Engine, token: string, port: number) {
  const { serve } = await import('../../http/index.ts')
  const bearsToken = tokenCheck(token)
  return await orMisuse(
    serve(engine, {
      port,
      authenticate: (request) => (bearsToken(request) ? { scopes: ['read'] } : null),
      onError: (error) => note(io, `errand inspect: ${messageOf(error)}`),
    }),
  )
}
