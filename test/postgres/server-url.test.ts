// URLs of PostgreSQL servers. No server is needed: nothing is connected.
import { expect, it } from 'vitest'
import { openLedger, shownLedger } from '../../src/ledger/open-ledger.ts'
import { parseServerUrl } from '../../src/ledger/postgres/server-url.ts'

it('a URL of a server is its address, and is shown without its password', () => {
  const url = 'postgres://ann:p%40ss%20word@127.0.0.1:5433/work?schema=errand'
  expect(parseServerUrl(url)).toEqual({
    name: 'postgres://ann@127.0.0.1:5433/work?schema=errand',
    hosts: [{ host: '127.0.0.1', port: 5433, tls: 'off' }],
    user: 'ann',
    password: 'p@ss word',
    database: 'work',
    schema: 'errand',
    pools: undefined,
    durability: 'strict',
  })
  expect(shownLedger(url)).toBe('postgres://ann@127.0.0.1:5433/work?schema=errand')
  expect(shownLedger('a.db')).toBe('a.db')
})

it('a URL may name several servers, of which one is in use', () => {
  const { hosts, name, schema } = parseServerUrl('postgres://ann:secret@localhost,[::1]:5433,db:5434/work?schema=x')
  expect(hosts).toEqual([
    { host: 'localhost', port: 5432, tls: 'off' },
    { host: '::1', port: 5433, tls: 'off' },
    { host: 'db', port: 5434, tls: 'verify' },
  ])
  expect(name).toBe('postgres://ann@localhost,[::1]:5433,db:5434/work?schema=x')
  expect(schema).toBe('x')
})

it('a URL may name a connection pool, and the servers behind it', () => {
  const { hosts, pools, name } = parseServerUrl('postgres://ann:secret@localhost:6432/work?direct=127.0.0.1:5433,db')
  expect(pools).toEqual([{ host: 'localhost', port: 6432, tls: 'off' }])
  expect(hosts).toEqual([
    { host: '127.0.0.1', port: 5433, tls: 'off' },
    { host: 'db', port: 5432, tls: 'verify' },
  ])
  expect(name).toBe('postgres://ann@localhost:6432/work?direct=127.0.0.1:5433,db')
})

it.each([
  ['localhost/db', 'off'],
  ['localhost,127.0.0.1:5433/db', 'off'],
  ['127.0.0.2/db', 'off'],
  ['[::1]/db', 'off'],
  ['localhost/db?sslmode=require', 'encrypted'],
  ['db.example.com/db', 'verify'],
  ['10.0.0.1/db?sslmode=verify-full', 'verify'],
  ['10.0.0.1/db?sslmode=require', 'encrypted'],
])('a connection to %s is made with TLS: %s', (rest, tls) => {
  expect(parseServerUrl(`postgresql://${rest}`).hosts[0]?.tls).toBe(tls)
})

it.each([
  ['postgres://ann:secret@db.example.com/db?sslmode=disable', /another host.*encrypted/],
  ['postgres://ann:secret@localhost', /names no database/],
  ['postgres://ann:secret@localhost/db?shema=x', /"shema" is not known. Did you mean "schema"\?/],
  ['postgres://ann:secret@localhost/db?sslmode=maybe', /"sslmode" is not valid/],
  ['postgres://ann:secret@a,,b/db', /one of its hosts is empty/],
  ['postgres://ann:secret@a,ann:secret@b/db', /only the first of its hosts may follow a user/],
  ['postgres://ann:secret@localhost,db/db?sslmode=disable', /db is another host/],
  ['postgres://ann:secret@localhost/db?direct=a,,b', /hosts of its option "direct" is empty/],
  ['postgres://ann:secret@localhost/db?direct=postgres:%2F%2Fann:secret@a', /"direct" is not a list like/],
  ['postgres://ann:secret@localhost/db?direct=ann:secret@a', /"direct" is not a list like/],
  ['postgres://ann:secret@localhost/db?direct=:secret@a', /"direct" is not a list like/],
  ['postgres://ann:secret@localhost/db?direct=a:port', /"direct" is not a list like/],
  ['postgres://ann:secret@localhost/db?direct=db&sslmode=disable', /db is another host/],
  ['postgres://ann:secret@localhost/db?durability=some', /"durability" is not valid/],
  ['postgres://ann:secret@localhost,b:port/db', /not a URL like/],
  ['postgres://ann:secret@localhost:port/db', /not a URL like/],
])('openLedger refuses %s before it connects, and repeats no password', async (url, why) => {
  const refused = openLedger(url)
  await expect(refused).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await expect(refused).rejects.toThrow(why)
  await expect(refused).rejects.not.toThrow(/secret/)
})

it('openLedger says what is wrong when no server answers', async () => {
  await expect(openLedger('postgres://ann:secret@127.0.0.1:1/db')).rejects.toMatchObject({
    code: 'LEDGER_UNAVAILABLE',
    message: expect.stringMatching(/127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/),
  })
  await expect(openLedger('postgres://ann:secret@127.0.0.1:1,127.0.0.1:2/db')).rejects.toMatchObject({
    code: 'LEDGER_UNAVAILABLE',
    message: expect.stringMatching(/None of the servers.*127\.0\.0\.1:1 cannot .*127\.0\.0\.1:2 cannot/),
  })
})
