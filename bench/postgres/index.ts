// errand with its ledger on a PostgreSQL server, beside DBOS on the same one: `npm run bench:postgres`. The ratios of one run are comparable
// between machines, absolute figures are not.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { setup as build } from '../../scripts/build.ts'
import { startServer } from '../../test/postgres/server.ts'
import { installPeers } from '../peers/install.ts'
import { waitForCalm } from '../runner/calm.ts'
import { machine, revision } from '../runner/run-row.ts'
import { dbos, dbosFolder } from './dbos.ts'
import { comparisonText, sampleTable } from './print.ts'
import { compare, runRounds } from './rounds.ts'
import { rows, samplesOf } from './sample.ts'
import { roundTripMs, startRelay } from './take.ts'

const help = `npm run bench:postgres -- [options] [ROW…]

  --quick       one short round, for a first impression
  --rounds N    the number of rounds; default 5
  --seconds S   how long each sample works; default 4
  --patience S  how long to wait for a calm machine before each round; default 600, 0 does not wait
  --out FOLDER  the folder for the results as JSON; default bench/results

Rows: ${Object.keys(rows).join(', ')}. The server is that of ERRAND_PG_URL, else a new one of an installed PostgreSQL, with fsync.
npm installs DBOS in a temporary folder.`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    patience: { type: 'string' },
    out: { type: 'string', default: join(import.meta.dirname, '../results') },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) console.log(help)
else await run()

async function run(): Promise<void> {
  const unknown = positionals.filter((name) => !(name in rows))
  if (unknown.length > 0)
    throw new Error(`There is no row ${unknown.join(', ')}. Rows: ${Object.keys(rows).join(', ')}.`)
  const chosen = Object.entries(rows).filter(([name]) => positionals.length === 0 || positionals.includes(name))
  const sizes = {
    rounds: Number(values.rounds ?? (values.quick ? 1 : 5)),
    warmSeconds: values.quick ? 0.3 : 1,
    seconds: Number(values.seconds ?? (values.quick ? 0.7 : 4)),
  }
  const patienceMs = Number(values.patience ?? (values.quick ? 0 : 600)) * 1_000
  await build()
  installPeers([dbos], dbosFolder)
  const server = await startServer({ fsync: true })
  if (server === undefined) throw new Error('There is no PostgreSQL server to measure on.')
  const relay = await startRelay(server.url, 1)
  try {
    const startedAt = new Date().toISOString()
    const roundTrips = { beside: await roundTripMs(server.url), distant: await roundTripMs(relay.through(server.url)) }
    console.log(
      `a bare query: ${roundTrips.beside.toFixed(2)} ms, through the relay ${roundTrips.distant.toFixed(2)} ms`,
    )
    const found = await runRounds(samplesOf(chosen.map(([, row]) => row)), { server, relay, ...sizes }, sizes.rounds, {
      before: async (first) => void (patienceMs > 0 && (await waitForCalm(first, patienceMs, console.log))),
      say: console.log,
    })
    const compared = compare(
      chosen.flatMap(([, row]) => row.comparisons),
      found,
    )
    mkdirSync(values.out, { recursive: true })
    const results = { startedAt, machine: machine(), revision: revision(), sizes, roundTrips, samples: found, compared }
    writeFileSync(join(values.out, 'postgres.json'), `${JSON.stringify(results, null, 2)}\n`)
    for (const [, row] of chosen) {
      console.log(`\n${row.title}\n${sampleTable(Object.keys(row.samples), found)}`)
      for (const each of compared) if (row.comparisons.includes(each.comparison)) console.log(comparisonText(each))
    }
  } finally {
    relay.stop()
    await server.stop()
  }
}
