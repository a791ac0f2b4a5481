// What to do when a PostgreSQL server cannot be reached.
import { ErrandError } from '../../core/errors.ts'
import { messageOf } from '../../core/stored-error.ts'

/** @param address Of the server, as `host:port`. */
export function unreachable(error: unknown, address: string, ledger: string): ErrandError {
  if (ErrandError.isInstance(error)) return error
  const code = (error as { code?: string } | null)?.code
  const remedy =
    remedies.find(({ codes }) => codes.test(code ?? messageOf(error)))?.remedy ?? 'Check the server and the URL.'
  return new ErrandError(
    'LEDGER_UNAVAILABLE',
    `The PostgreSQL server at ${address} cannot be reached: ${messageOf(error)}. ${remedy}`,
    { ledger, ...(code === undefined ? {} : { code }) },
    error,
  )
}

const remedies = [
  {
    codes: /^(28|SASL)/,
    remedy: 'Check the user and the password: in the URL, in PGUSER and PGPASSWORD, or in ~/.pgpass.',
  },
  { codes: /^3D000/, remedy: 'Create the database, or name another one in the URL.' },
  {
    codes: /^53300/,
    remedy: 'The server has no connection left: an engine needs four. Raise max_connections, or close others.',
  },
  {
    codes: /^08P01/,
    remedy:
      'A connection pool that gives each transaction another session needs the server behind it in the URL: add ?direct= with its host and port.',
  },
  {
    codes: /SSL|CERT|certificate/i,
    remedy:
      'Other hosts need TLS: enable it on the server. An authority of your own is named to Node by NODE_EXTRA_CA_CERTS.',
  },
]
