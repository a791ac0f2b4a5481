// DBOS: a library of durable workflows whose ledger is PostgreSQL. It is installed apart from the peers on SQLite.
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const dbos = { packages: { '@dbos-inc/dbos-sdk': '5.3.0' } }

export const dbosFolder = process.env['BENCH_DBOS'] ?? join(tmpdir(), 'errand-bench-dbos')
