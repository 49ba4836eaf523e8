/* A study: a lock with a fence over a majority of three independent servers that may crash and forget all they knew, as
 * Redlock's do. Holdfast has no such engine; see docs/evidence.md for what this says about one.
 *
 * A client asks servers for a lease; from a majority it takes the greatest token that any of them has seen, and adds one;
 * it stores this token at a majority; then it holds the lock. Requests are single steps here, whose answer may be lost.
 * Before a lease ends on a server, the deadline of the client that has it is over, for that counts from before its first
 * request.
 *
 * A server that has forgotten everything serves again
 * - at once,
 * - WAITS: or after a ttl, when whatever it has granted is over,
 * - CATCHES_UP: or after it has read the greatest token of both other servers.
 *
 * Checked in every state: at most one client holds the lock, and tokens of holders increase. Only with WAITS and
 * CATCHES_UP together does that hold.
 */

#define SERVERS  3
#define CLIENTS  2
#ifndef ATTEMPTS
#define ATTEMPTS 1             /* of each client */
#endif
#ifndef CRASHES
#define CRASHES  2             /* in all */
#endif
#define NOBODY   255
#define ALL_ANSWERED(mask) ((mask) == 3 || (mask) == 5 || (mask) == 6 || (mask) == 7)   /* a majority */

byte lease[SERVERS];           /* the client that has it */
byte seen[SERVERS];            /* the greatest token */
bool serves[SERVERS];
bool asked_before[SERVERS * CLIENTS];   /* the client's present attempt began before this server crashed */
byte crashes = 0;

bool over[CLIENTS];            /* the deadline of the present attempt has passed */
bool holds[CLIENTS];
byte newest = 0;               /* the greatest token of any holder */

inline end_attempt(c) {
  over[c] = true;
  holds[c] = false
}

#define CAN_ASK(s) (!(granted & (1 << (s))) && serves[s] && (lease[s] == NOBODY || lease[s] == c))
#define CAN_STORE(s) (!(stored & (1 << (s))) && serves[s] && lease[s] == c)

inline ask(s) {
  lease[s] = c;
  if
  :: granted = granted | (1 << s);
    if
    :: seen[s] > greatest -> greatest = seen[s]
    :: else
    fi
  :: skip                      /* the answer is lost */
  fi
}

inline store(s) {
  if
  :: seen[s] < token -> seen[s] = token
  :: else
  fi;
  if
  :: stored = stored | (1 << s)
  :: skip
  fi
}

proctype Client(byte c) {
  byte attempt = 0;
  byte granted;
  byte greatest;
  byte stored;
  byte token;

begin:
  atomic {
    over[c] = false;
    asked_before[c] = false;
    asked_before[CLIENTS + c] = false;
    asked_before[2 * CLIENTS + c] = false;
    granted = 0;
    greatest = 0;
    stored = 0;
    token = 0
  };
  do
  :: atomic { CAN_ASK(0) -> ask(0) }
  :: atomic { CAN_ASK(1) -> ask(1) }
  :: atomic { CAN_ASK(2) -> ask(2) }
  :: ALL_ANSWERED(granted) -> break
  :: goto ended
  od;
  token = greatest + 1;
  do
  :: atomic { CAN_STORE(0) -> store(0) }
  :: atomic { CAN_STORE(1) -> store(1) }
  :: atomic { CAN_STORE(2) -> store(2) }
  :: ALL_ANSWERED(stored) -> break
  :: goto ended
  od;
  atomic {
    if
    :: over[c]
    :: !over[c] ->
      holds[c] = true;
      assert(holds[0] + holds[1] <= 1);
      assert(token > newest);
      newest = token
    fi
  };

ended:
  atomic {                     /* it releases, and a server that hears nothing waits for the end of the lease */
    holds[c] = false;
    over[c] = true;
    granted = 0;
    stored = 0;
    greatest = 0;
    token = 0
  };
  if
  :: attempt < ATTEMPTS - 1 -> attempt++; goto begin
  :: else
  fi
}

proctype Server(byte s) {
  byte other;
  end: do
  :: atomic { serves[s] && lease[s] != NOBODY ->     /* the lease ends, or is released */
      end_attempt(lease[s]);
      lease[s] = NOBODY }
  :: atomic { serves[s] && crashes < CRASHES ->
      crashes++;
      serves[s] = false;
      lease[s] = NOBODY;
      seen[s] = 0;
      asked_before[s * CLIENTS] = true;
      asked_before[s * CLIENTS + 1] = true }
#ifdef CATCHES_UP
  :: atomic { !serves[s] && serves[(s + 1) % SERVERS] && serves[(s + 2) % SERVERS] ->
      seen[s] = (seen[(s + 1) % SERVERS] > seen[(s + 2) % SERVERS] ->
        seen[(s + 1) % SERVERS] : seen[(s + 2) % SERVERS]);
#else
  :: atomic { !serves[s] ->
#endif
#ifdef WAITS
      if
      :: asked_before[s * CLIENTS] -> end_attempt(0)
      :: else
      fi;
      if
      :: asked_before[s * CLIENTS + 1] -> end_attempt(1)
      :: else
      fi;
#endif
      asked_before[s * CLIENTS] = false;
      asked_before[s * CLIENTS + 1] = false;
      serves[s] = true }
  od
}

init {
  atomic {
    lease[0] = NOBODY;
    lease[1] = NOBODY;
    lease[2] = NOBODY;
    serves[0] = true;
    serves[1] = true;
    serves[2] = true;
    over[0] = true;
    over[1] = true;
    run Server(0); run Server(1); run Server(2);
    run Client(0); run Client(1)
  }
}
