/* Grant at release, for one mutex and three waiters: a release gives the name, in the same step, to the first claim in
 * the server's queue. See docs/evidence.md, and engines/redis/lua/give.lua and confirm.lua, which this is a model of.
 *
 * Time has no numbers here, only an order: an answer may always come too late, and a lock may always be lost; and before
 * the server ends a lease, the deadline of the claim that it counts from has passed at the waiter (`over`), for that
 * counts from when the claim was sent. A lease that a release has granted and no claim has confirmed yet (`provisional`)
 * may end at any moment.
 *
 * Messages are flags: any that was sent may arrive, now or much later, in any order, once, twice (a budget of one) or
 * never. Waiters die, stop for as long as they like (nobody has to move), cancel and give up at any moment.
 *
 * Checked in every state: at most one waiter takes its lease for valid; tokens of holders increase. And that no
 * waiter is left without a next step.
 *
 * Each of these macros plants a bug, which the check must find: BELIEVE_THE_NOTICE, VALID_FROM_THE_REPLY,
 * REUSE_THE_ID, NO_POLL.
 */

#define WAITERS  3
#define ATTEMPTS 2            /* claims of a waiter, one after the other */
#ifdef LAST_CLAIMS_ONCE
#define ATTEMPTS_OF(w) ((w) == 2 -> 1 : 2)
#else
#define ATTEMPTS_OF(w) ATTEMPTS
#endif
#define IDS      2            /* lease ids of a waiter: a new one after it released a lease that came too late */
#define NOBODY   255

#define CLAIM(w, a) ((w) * ATTEMPTS + (a))
#define ID(w, k)    ((w) * IDS + (k))
#define OWNER(id)   ((id) / IDS)

mtype = { none, granted, busy };

/* In flight. An answer or a notice that no waiter waits for any more is dropped. */
bool claim_sent[WAITERS * ATTEMPTS];
bit claim_id[WAITERS * ATTEMPTS];      /* which id of its waiter a claim has */
bool release_sent[WAITERS * IDS];
mtype answer[WAITERS] = none;          /* to the present claim of a waiter */
byte answer_token[WAITERS];
bool notice[WAITERS];                  /* "your claim was granted" */
byte duplicates = DUPLICATES;                    /* messages that may still arrive twice */

/* The server. It mints a token that is greater than those that any waiter has or will see, and no greater: tokens count
 * from the greatest one of any holder so far, so that states stay few. */
byte holder = NOBODY;                  /* an id */
bool provisional;
byte granted_by;                       /* the claim that the lease counts from, if it is not provisional */
byte token;                            /* of the lease */
chan queue = [WAITERS * IDS] of { byte };

/* The waiters. */
byte present[WAITERS];                 /* the claim of each; NOBODY: it has ended */
bool over[WAITERS];                    /* the local deadline of that claim has certainly passed */
bool claimed[WAITERS];                 /* has sent its first claim */
bool valid[WAITERS];                   /* takes its lease for valid */

inline lower(value, by) {
  if
  :: value > by -> value = value - by
  :: else -> value = 0
  fi
}

/* Of the token in answer_token[w]. */
inline begin_hold(w) {
  valid[w] = true;
  answer[w] = none;
  notice[w] = false;
  assert(valid[0] + valid[1] + valid[2] <= 1);
  assert(answer_token[w] > 0);         /* newer than those of all holders before */
  taken = answer_token[w];
  lower(token, taken);
  lower(answer_token[0], taken);
  lower(answer_token[1], taken);
  lower(answer_token[2], taken);
  taken = 0
}

inline end_waiter(w) {
  valid[w] = false;
  present[w] = NOBODY;
  answer[w] = none;
  answer_token[w] = 0;
  notice[w] = false;
  over[w] = false
}

inline mint() {
  token = 1 + (answer_token[0] > answer_token[1] ->
    (answer_token[0] > answer_token[2] -> answer_token[0] : answer_token[2]) :
    (answer_token[1] > answer_token[2] -> answer_token[1] : answer_token[2]))
}

/* Gives the name to the first in the queue, or to nobody. */
inline give() {
  granted_by = 0;
  if
  :: len(queue) > 0 ->
    queue ? holder;
    provisional = true;
    mint();
    if
    :: present[OWNER(holder)] != NOBODY -> notice[OWNER(holder)] = true
    :: else
    fi
  :: else ->
    holder = NOBODY;
    token = 0;
    provisional = false
  fi
}

/* An older claim that arrives after a newer one makes the lease last longer, never shorter. */
inline grant_to(w, a) {
  if
  :: holder != mine || provisional || granted_by < CLAIM(w, a) -> granted_by = CLAIM(w, a)
  :: else
  fi;
  holder = mine;
  provisional = false;
  if
  :: present[w] == CLAIM(w, a) && !valid[w] -> answer[w] = granted; answer_token[w] = token
  :: else
  fi
}

inline serve_claim(w, a) {
  if
  :: claim_sent[CLAIM(w, a)] = false
  :: duplicates > 0 -> duplicates--    /* it stays in flight, and arrives once more */
  fi;
  mine = ID(w, claim_id[CLAIM(w, a)]);
  if
  :: holder == NOBODY ->
    if
    :: queue ?? [eval(mine)] -> queue ?? eval(mine)
    :: else
    fi;
    mint();
    grant_to(w, a)
  :: holder == mine -> grant_to(w, a)
  :: else ->
    if
    :: queue ?? [eval(mine)]
    :: else -> queue ! mine
    fi;
    if
    :: present[w] == CLAIM(w, a) && !valid[w] && answer[w] == none -> answer[w] = busy
    :: else
    fi
  fi;
  mine = 0
}

inline serve_release(id) {
  if
  :: release_sent[id] = false
  :: duplicates > 0 -> duplicates--
  fi;
  if
  :: queue ?? [eval(id)] -> queue ?? eval(id)
  :: else
  fi;
  if
  :: holder == id -> give()
  :: else
  fi
}

active proctype Server() {
  byte mine;
  end: do
  :: atomic { claim_sent[0] -> serve_claim(0, 0) }
  :: atomic { claim_sent[1] -> serve_claim(0, 1) }
  :: atomic { claim_sent[2] -> serve_claim(1, 0) }
  :: atomic { claim_sent[3] -> serve_claim(1, 1) }
  :: atomic { claim_sent[4] -> serve_claim(2, 0) }
  :: atomic { claim_sent[5] -> serve_claim(2, 1) }
  :: atomic { release_sent[0] -> serve_release(0) }
  :: atomic { release_sent[1] -> serve_release(1) }
  :: atomic { release_sent[2] -> serve_release(2) }
  :: atomic { release_sent[3] -> serve_release(3) }
  :: atomic { release_sent[4] -> serve_release(4) }
  :: atomic { release_sent[5] -> serve_release(5) }
  /* A lease ends. The deadline of its holder has passed before. */
  :: atomic { holder != NOBODY && provisional -> holder = NOBODY; token = 0; provisional = false }
  :: atomic { holder != NOBODY && !provisional ->
      if
      :: present[OWNER(holder)] == granted_by ->
        over[OWNER(holder)] = true;
#ifndef VALID_FROM_THE_REPLY
        valid[OWNER(holder)] = false
#endif
      :: else
      fi;
      holder = NOBODY;
      token = 0;
      granted_by = 0 }
  od
}

proctype Waiter(byte w) {
  bit k = 0;          /* its present id */
  byte a = 0;         /* its present claim */
  byte taken = 0;

  /* They are alike: the first to claim is waiter 0, the next waiter 1. */
  (w == 0 || claimed[(w + WAITERS - 1) % WAITERS]);

claim:
  atomic {
    claimed[w] = true;
    claim_id[CLAIM(w, a)] = k;
    claim_sent[CLAIM(w, a)] = true;
    present[w] = CLAIM(w, a);
    over[w] = false;
    answer[w] = none;
    answer_token[w] = 0;
    notice[w] = false
  };

waits_for_answer:
  if
#ifdef VALID_FROM_THE_REPLY
  :: atomic { answer[w] == granted -> begin_hold(w) }; goto holds
#else
  :: atomic { answer[w] == granted && !over[w] -> begin_hold(w) }; goto holds
  :: atomic { answer[w] == granted -> release_sent[ID(w, k)] = true };   /* it came too late */
#ifndef REUSE_THE_ID
    k = 1;
#endif
    goto next_claim
#endif
  :: atomic { answer[w] == busy -> answer[w] = none }; goto queued
  :: goto next_claim                        /* its answer is lost, or late */
#ifndef NO_POLL
  :: goto gives_up
  :: goto ended                             /* dies */
#endif
  fi;

queued:
  if
#ifdef BELIEVE_THE_NOTICE
  :: atomic { notice[w] -> answer_token[w] = token; begin_hold(w) }; goto holds
#else
  :: notice[w] -> goto next_claim           /* confirms it */
#endif
#ifdef NO_POLL
  :: notice[w] -> notice[w] = false; goto queued   /* it is lost */
#else
  :: goto next_claim                        /* polls: the notice may be lost */
  :: goto gives_up                          /* cancelled, or its time is over */
  :: goto ended                             /* dies */
#endif
  fi;

next_claim:
  if
  :: a < ATTEMPTS_OF(w) - 1 -> a++; goto claim
  :: else -> goto gives_up
  fi;

holds:
  if
  :: atomic { valid[w] = false; release_sent[ID(w, k)] = true }   /* it releases, or has found its lock lost */
  :: skip                                                         /* it dies */
  fi;
  goto ended;

gives_up:
  release_sent[ID(w, k)] = true;

ended:
  atomic { end_waiter(w); k = 0; a = 0 }
}

init {
  atomic {
    present[0] = NOBODY;
    present[1] = NOBODY;
    present[2] = NOBODY;
    run Waiter(0); run Waiter(1)
#ifndef TWO
    ; run Waiter(2)
#endif
  }
}
