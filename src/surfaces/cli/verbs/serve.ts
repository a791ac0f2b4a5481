// `errand serve`: works on a ledger, and serves it over HTTP to programs and to a page in the browser, until it is told to stop.

import { messageOf } from '../../../core/stored-error.ts'
import type { Engine } from '../../../engine-api.ts'
import { tokenVariables } from '../../../executors/secret-variables.ts'
import { type FlagsOf, lists, misuse, switches, texts, wholeNumber } from '../../../terminal/arguments.ts'
import { exitCodes } from '../../../terminal/exit-code.ts'
import { type CommandIo, note, print, printJson } from '../../../terminal/io.ts'
import { aborted, StopListener } from '../../../terminal/stop-listener.ts'
import { keepFolders } from '../board-folders.ts'
import { endCommands } from '../end-commands.ts'
import { agentOptions, agentOptionsHelp } from '../model-source.ts'
import { openEngine, plansFolder } from '../open-ledger.ts'
import { chooseToken, orMisuse, type ServedToken } from '../serving.ts'
import { openableLedger } from '../trusted-ledger.ts'
import { defineVerb } from '../verb.ts'
import { inheritEnvHelp, workingOptions } from '../working-options.ts'

const tokenVariable = tokenVariables.http
const defaultPort = 4711

const options = {
  ...agentOptions,
  ...texts('port', 'host', 'token-file', 'concurrency', 'plans'),
  ...lists('allow-host'),
  ...switches('no-work', 'no-page', 'inherit-env'),
}

export const serve = defineVerb({
  usage:
    'serve [--port N] [--host H] [--allow-host H]… [--token-file F] [--concurrency N] [--no-work] [--no-page] [--inherit-env] [--plans DIR] [--model SPEC] [--files DIR]',
  help: [
    'Serves the ledger over HTTP, and at / a page to watch and command it, until Ctrl-C; and works on it: commands of plans, questions, and with --model agents. Stopped and started again it goes on.',
    'Whoever has the token can do everything here, run commands included. /docs describes the routes.',
    `  --port N          default ${defaultPort}; 0: a free one`,
    '  --host H          the address to listen at; default 127.0.0.1, which only this machine reaches',
    '  --allow-host H    a Host header that is served, port included, in place of the usual ones: the name under which others reach it; may be given several times',
    `  --token-file F    the file with the token that clients must send, at least 32 characters; else ${tokenVariable}, else a new one is made and told once, below the address`,
    '  --concurrency N   how many tasks may run at once; default 10',
    '  --no-work         only serves: what is ready is left to others',
    '  --no-page         only the routes',
    inheritEnvHelp,
    '  --plans DIR       takes plans at POST /plans; their commands begin in this folder or below it',
    'Agents, for tasks with a goal:',
    agentOptionsHelp,
    '  --json            { "url", "token" } in place of the lines; without a new token, no "token"',
  ].join('\n'),
  options,
  positionals: { max: 0 },
  async run(io, { values }) {
    // Before a ledger is made: what is no token is told first.
    const token = await chooseToken(io, values['token-file'], tokenVariable)
    using stop = new StopListener(io)
    const engine = await engineFor(io, values)
    stop.endCommands = () => endCommands(engine)
    try {
      return await serveUntil(io, engine, values, token, stop.signal)
    } finally {
      await engine.close()
    }
  },
})

type ServeFlags = FlagsOf<typeof options>

/** It has what `errand run` has, and does not begin yet. */
async function engineFor(io: CommandIo, flags: ServeFlags): Promise<Engine> {
  if (flags.concurrency !== undefined && flags['no-work']) {
    throw misuse('--concurrency says nothing with --no-work: nothing runs.')
  }
  if (flags['inherit-env'] && flags['no-work']) throw misuse('--inherit-env says nothing with --no-work: nothing runs.')
  const ledger = await openableLedger(io, flags)
  const options = await workingOptions(io, ledger, flags)
  return await openEngine(io, flags, {
    ...options,
    plans: plansFolder(io, flags),
    work: false,
    onError: (error) => complain(io, error),
  })
}

async function serveUntil(
  io: CommandIo,
  engine: Engine,
  flags: ServeFlags,
  { token, isNew }: ServedToken,
  signal: AbortSignal,
): Promise<number> {
  const { serve } = await import('../../http/index.ts')
  const listening = serve(engine, {
    token,
    port: flags.port === undefined ? defaultPort : wholeNumber('port', flags.port, 0),
    page: flags['no-page'] !== true,
    host: flags.host,
    allowedHosts: flags['allow-host'],
    onError: (error) => complain(io, error),
  })
  const server = await orMisuse(listening)
  const mirrors = await keepFolders(io, engine)
  try {
    if (flags['no-work'] !== true) await engine.work()
    if (isWildcard(flags.host) && flags['allow-host'] === undefined) note(io, wildcardNote)
    // A token that was given is known to whoever gave it, and is not told again.
    if (flags.json) printJson(io, { url: server.url, ...(isNew ? { token } : {}) })
    else print(io, isNew ? `${server.url}\ntoken: ${token}` : server.url)
    await aborted(signal)
    note(io, stoppingNote)
  } finally {
    await server.close()
    for (const mirror of mirrors) await mirror.close()
  }
  return exitCodes.interrupted
}

const stoppingNote =
  'Stopping: what runs is let go, and whoever works on the ledger next goes on with it. Once more to stop at once.'
const wildcardNote =
  'It listens on all addresses, and is served under the names of this machine alone (localhost): --allow-host names those under which others reach it.'

/** An address that is every address has no name by which a request could be told from one that was led astray. */
function isWildcard(host: string | undefined): boolean {
  return host === '0.0.0.0' || host === '::'
}

function complain(io: CommandIo, error: unknown): void {
  note(io, `errand serve: ${messageOf(error)}`)
}
