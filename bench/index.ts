// The suite: `npm run bench` runs all rows, `npm run bench -- ROW…` some. Ratios of one run are comparable between machines, absolute
// figures are not. docs/understand/benchmarks.md describes the method.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { setup as build } from '../scripts/build.ts'
import { installPeers } from './peers/install.ts'
import { peers } from './peers/peers.ts'
import { chartOf } from './runner/chart.ts'
import { withFigures } from './runner/document.ts'
import { tableOf } from './runner/print.ts'
import { type RowResult, runRow } from './runner/run-row.ts'
import { sampleApart } from './runner/sample.ts'
import { mainRows, rows } from './suite.ts'

const help = `npm run bench -- [options] [ROW…]

  --quick          smaller sizes and fewer rounds, for a first impression
  --all            all rows, not only the main ones
  --tiny           only checks that the rows work; its figures mean nothing
  --peers          other projects too: npm installs them in a temporary folder
  --base FOLDER    another built checkout of errand too, as the side "base"
  --rounds N       the number of rounds; default: that of each row
  --patience S     how long to wait for a calm machine before each round; default 600, 0 does not wait
  --out FOLDER     the folder for the results as JSON; default bench/results
  --document       runs nothing; writes the last results of the main rows into docs/understand/benchmarks.md and docs/understand/benchmarks.svg
  --list           lists the rows

Environment variables change the sizes: BENCH_TASKS=500 replaces the size "tasks" of every row that has it.`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    tiny: { type: 'boolean', default: false },
    peers: { type: 'boolean', default: false },
    base: { type: 'string' },
    rounds: { type: 'string' },
    patience: { type: 'string', default: '600' },
    out: { type: 'string', default: join(import.meta.dirname, 'results') },
    all: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    document: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) console.log(help)
else if (values.list) console.log(rows.map(({ name, title }) => `${name.padEnd(24)} ${title}`).join('\n'))
else if (values.document) document()
else await run()

async function run(): Promise<void> {
  const unknown = positionals.filter((name) => !rows.some((row) => row.name === name))
  if (unknown.length > 0) throw new Error(`There is no row ${unknown.join(', ')}; see --list.`)
  const named = rows.filter((row) => positionals.includes(row.name))
  const chosen = values.all ? rows : named.length > 0 ? named : mainRows
  await build()
  if (values.peers) installPeers(peers)
  // A slow peer is cut off earlier, so that a quick run stays one.
  if (values.quick || values.tiny) process.env.BENCH_PEER_MS ??= '2000'
  const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'))
  mkdirSync(values.out, { recursive: true })
  try {
    for (const [index, row] of chosen.entries()) {
      console.log(`\n${row.title} (${row.name})`)
      const result = await runRow(row, {
        size: values.tiny ? 'tiny' : values.quick ? 'quick' : 'full',
        rounds: values.rounds === undefined ? undefined : Number(values.rounds),
        peers: values.peers,
        base: values.base === undefined ? undefined : resolve(values.base),
        folder,
        take: sampleApart,
        isFirst: index === 0,
        patienceMs: Number(values.patience) * 1_000,
        say: (text) => console.log(text),
      })
      writeFileSync(join(values.out, `${row.name}.json`), `${JSON.stringify(result, null, 2)}\n`)
      console.log(tableOf(row, result))
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function document(): void {
  const docs = join(import.meta.dirname, '../docs/understand')
  const shown = mainRows.flatMap((row) => {
    const file = join(values.out, `${row.name}.json`)
    return existsSync(file) ? [{ row, result: JSON.parse(readFileSync(file, 'utf8')) as RowResult }] : []
  })
  const page = join(docs, 'benchmarks.md')
  writeFileSync(page, withFigures(readFileSync(page, 'utf8'), shown))
  writeFileSync(join(docs, 'benchmarks.svg'), chartOf(shown))
}
